#pragma once

// Annotations that say which lock guards what. clang checks them (-Wthread-safety, an error in developer
// builds); other compilers see nothing. The meaning of each is that of clang's "Thread Safety Analysis".
//
//   base::StdMutex mutex_;
//   std::size_t waiting_ AIRLOCK_GUARDED_BY(mutex_) = 0;
//   void start() AIRLOCK_REQUIRES(mutex_);
//
// A predicate that std::condition_variable calls under the lock says so too:
//
//   changed_.wait(lock, [this]() AIRLOCK_REQUIRES(mutex_) { return waiting_ == 0; });
//
// Where the lock is held by something that clang cannot follow, Mutex::assert_held() says so. What the lock
// of a shard guards is not annotated: the steps of ShardedStore hold it through a Guard of their store.
#if defined(__clang__)
#define AIRLOCK_THREAD_ANNOTATION(...) __attribute__((__VA_ARGS__))
#else
#define AIRLOCK_THREAD_ANNOTATION(...)
#endif

// Of data: read and written only under the mutex.
#define AIRLOCK_GUARDED_BY(mutex) AIRLOCK_THREAD_ANNOTATION(guarded_by(mutex))

// Of functions: the caller holds the mutex, or does not hold it.
#define AIRLOCK_REQUIRES(...) AIRLOCK_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define AIRLOCK_EXCLUDES(...) AIRLOCK_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

// Of functions whose locking cannot be expressed; with the reason beside it.
#define AIRLOCK_NO_THREAD_SAFETY_ANALYSIS AIRLOCK_THREAD_ANNOTATION(no_thread_safety_analysis)

// For the types in mutex.hpp, timed_mutex.hpp and locks.hpp.
#define AIRLOCK_CAPABILITY(kind) AIRLOCK_THREAD_ANNOTATION(capability(kind))
#define AIRLOCK_SCOPED_CAPABILITY AIRLOCK_THREAD_ANNOTATION(scoped_lockable)
#define AIRLOCK_ACQUIRE(...) AIRLOCK_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define AIRLOCK_TRY_ACQUIRE(...) AIRLOCK_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define AIRLOCK_ASSERT_CAPABILITY(...) AIRLOCK_THREAD_ANNOTATION(assert_capability(__VA_ARGS__))
#define AIRLOCK_RELEASE(...) AIRLOCK_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
