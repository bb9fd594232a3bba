<?php
// Loads the adapters of this folder when they are used: require it once, or map Airlock\Adapter\ to this folder (PSR-4).
// An adapter implements interfaces of a package, and is only of use where that is installed.

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    if (preg_match('/^Airlock\\\\Adapter\\\\(\w+)\z/', $class, $match) && is_file(__DIR__ . "/$match[1].php")) {
        require __DIR__ . "/$match[1].php";
    }
});
