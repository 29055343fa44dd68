import { readFileSync, statSync } from 'node:fs'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { ApiKey } from '#node/serving/rateLimits'
import { cliFault } from './faults.ts'

/** Default burst of a client, in seconds of its rate. */
export const burstSec = 10

const maxUnits = 1_000_000_000
function unitsIn(text: string | undefined): number | undefined {
  const number = Number(text)
  return text !== undefined && /^\d{1,10}$/.test(text) && number >= 1 && number <= maxUnits ? number : undefined
}

/** Parses a line of the file, `KEY UNITS [BURST]`; undefined: malformed. */
function keyIn(line: string): ApiKey | undefined {
  const [key = '', perSec, burst, ...more] = line.split(/\s+/)
  const unitsPerSec = unitsIn(perSec)
  const burstUnits = burst === undefined ? unitsPerSec && unitsPerSec * burstSec : unitsIn(burst)
  const isGood = /^[\w.~-]{8,128}$/.test(key) && more.length === 0
  return isGood && unitsPerSec !== undefined && burstUnits !== undefined ? { key, unitsPerSec, burstUnits } : undefined
}

/**
 * Reads the keys of a file; empty lines and lines that begin with # are ignored.
 * @throws Fault UNREADABLE_FILE, BAD_FLAG (fatal), which never shows a key
 */
export function readApiKeys(path: string): readonly ApiKey[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw cliFault('UNREADABLE_FILE', { path, reason: (error as NodeJS.ErrnoException).code ?? 'unknown' }, error)
  }
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 }))
  return lines.flatMap(({ line, number }) => {
    if (line === '' || line.startsWith('#')) return []
    const key = keyIn(line)
    if (key !== undefined) return [key]
    const expected = 'lines of KEY UNITS [BURST], KEY of 8 to 128 letters, digits, or -._~'
    throw cliFault('BAD_FLAG', { flag: 'rpc.api-keys', value: `${path}, line ${number}`, expected })
  })
}

/** Interval between checks of the file. */
const checkEveryMs = 5_000

/** Identifies the version of a file: differs after a write, and after a replacement by another file. */
function markOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? 'missing' : [stat.ino, stat.size, stat.mtimeMs].join()
}

/**
 * Checks every five seconds whether the file of keys has changed, until disposed. An unusable file changes nothing: the log has the reason, once.
 * @param keys the keys in use
 */
export function watchApiKeys(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  path: string,
  keys: readonly ApiKey[],
  onChange: (keys: readonly ApiKey[]) => void,
): Disposable {
  let seen = ''
  let known = JSON.stringify(keys)
  function check(): void {
    timer = clock.after(checkEveryMs, check)
    try {
      const mark = markOf(path)
      if (mark === seen) return
      seen = mark
      const now = readApiKeys(path)
      if (JSON.stringify(now) === known) return
      known = JSON.stringify(now)
      onChange(now)
      log.info('API keys changed', { path, keys: now.length })
    } catch (error) {
      log.error('file of API keys unusable, keeping the previous keys', { path, error })
    }
  }
  let timer = clock.after(checkEveryMs, check)
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() }
}
