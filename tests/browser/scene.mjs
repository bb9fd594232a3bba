// A server on which something happens: what the pictures of the documentation show, and what tests look at.

// Gates in every state that the dashboard tells apart. Returns what ends it.
export async function playScene(server, {period = 250} = {}) {
  const post = (path, body) => server.ask('POST', path, body);
  const admit = (gate, body) => post(`/v1/gates/${gate}/admit`, body);
  const held = new Map();  // Gate -> tokens, the oldest first.

  async function hold(gate, body) {
    const answer = await admit(gate, body);
    if (answer.status === 200) held.set(gate, [...held.get(gate) ?? [], answer.body.token]);
    return answer;
  }
  async function release(gate) {
    const token = held.get(gate)?.shift();
    if (token) await post('/v1/release', {token});
  }

  const jobs = ['invoice-run', 'stock-sync', 'web-1 checkout', 'web-2 checkout', 'nightly export', 'crm import', 'web-3 search'];
  await hold('reports~daily', {limit: 2, ttl: '1h', label: 'cron'});
  await server.ask('PUT', '/v1/gates/reports~daily/pause', {for: '45m', reporter: 'deploy'});
  await hold('backup:nas', {limit: 4, ttl: '1h', label: 'host-17'});
  await server.ask('PUT', '/v1/gates/backup:nas/limit', {limit: 1});
  for (const limit of [5, 5, 8]) await hold('geocoder', {limit, ttl: '1h', label: `tiles-${limit}`});
  await hold('migrations', {limit: 1, ttl: '1h', label: 'release 2026-11'});
  await server.ask('PUT', '/v1/gates/fax-gateway/limit', {limit: 0});
  for (const [gate, limit, used] of [['search:index', 24, 9], ['thumbnails', 64, 21], ['video:transcode', 6, 4], ['ldap', 40, 3],
    ['s3:uploads', 32, 17], ['warehouse:api', 12, 5], ['printer:hall-2', 1, 0], ['sap:rfc', 8, 6], ['cdn:purge', 3, 0]])
    for (let i = 0; i < Math.max(1, used); ++i) {
      await hold(gate, {limit, ttl: '1h', label: `worker-${i + 1}`});
      if (used === 0) await release(gate);
    }

  let round = 0;
  let isOver = false;
  let working = 0;
  let worker = 0;
  const begin = Date.now();

  // Waits in line for a slot of the ERP, works and gives it back.
  async function work(label) {
    ++working;
    const {status, body} = await admit('erp', {limit: 10, ttl: '1m', wait: '1m', label});
    if (status === 200) {
      await new Promise(done => setTimeout(done, isOver ? 0 : 3000 + Math.random() * 5000));
      await post('/v1/release', {token: body.token});
    }
    --working;
  }

  async function play() {
    ++round;
    const wave = Math.sin(round / 40) + Math.sin(round / 11) / 2;
    await post('/v1/gates/mail:transactional/take', {rates: ['40/s'], cost: 5});
    await post('/v1/gates/sms:otp/take', {rates: ['60/1m'], cost: 1});
    for (const [gate, limit, mean] of [['thumbnails', 64, 26], ['search:index', 24, 11], ['s3:uploads', 32, 18], ['sap:rfc', 8, 5.5]]) {
      const wanted = mean * (1 + wave / 3);
      while ((held.get(gate)?.length ?? 0) < wanted && !isOver)
        if ((await hold(gate, {limit, ttl: '1h', label: `worker-${round % 90}`})).status !== 200) break;
      while ((held.get(gate)?.length ?? 0) > wanted) await release(gate);
    }
    // More and more callers want the ERP.
    const seconds = (Date.now() - begin) / 1000;
    const callers = 12 + 3 * Math.sin(seconds / 25) + Math.max(0, seconds - 240) / 3;
    while (working < callers) work(jobs[++worker % jobs.length]);
    if (round % 9 === 0) await admit('erp', {limit: 10});
  }
  const loop = (async () => {
    while (!isOver) {
      await play();
      await new Promise(done => setTimeout(done, period));
    }
  })();
  return async () => {
    isOver = true;
    await loop;
    while (working > 0) await new Promise(done => setTimeout(done, 50));
  };
}
