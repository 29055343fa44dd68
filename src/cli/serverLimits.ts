import { readFileSync } from 'node:fs'
import { sharedRateLimit } from '#node/rateLimits'
import type { PageListen } from '#node/servers'
import { cliFault } from './faults.ts'
import { type FlagValues, flags } from './flags.ts'

export const limitFlags = ['rpc.rate-limit', 'rpc.rate-burst', 'rpc.api-keys', 'rpc.trusted-proxies'] as const
type Given = FlagValues<(typeof limitFlags)[number]>
type RateLimit = NonNullable<PageListen['rateLimit']>

/** What a client may have saved up, where nothing else is said. */
const burstSec = 10

const maxUnits = 1_000_000_000
const units = (text: string | undefined): number | undefined => {
  const number = Number(text)
  return text !== undefined && /^\d{1,10}$/.test(text) && number >= 1 && number <= maxUnits ? number : undefined
}

/** A line of the file: KEY UNITS [BURST]; empty ones and those that begin with # say nothing. */
function keyIn(line: string): RateLimit['keys'][number] | undefined {
  const [key = '', perSec, burst, ...more] = line.split(/\s+/)
  const unitsPerSec = units(perSec)
  const burstUnits = burst === undefined ? unitsPerSec && unitsPerSec * burstSec : units(burst)
  const isGood = /^[\w.~-]{8,128}$/.test(key) && more.length === 0
  return isGood && unitsPerSec !== undefined && burstUnits !== undefined ? { key, unitsPerSec, burstUnits } : undefined
}

/** @throws Fault UNREADABLE_FILE, BAD_FLAG (fatal), which never shows a key */
function keysIn(path: string): RateLimit['keys'] {
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

/**
 * The rate limits of the servers, if there are any.
 * @throws Fault MISSING_FLAG, UNREADABLE_FILE, BAD_FLAG (fatal)
 */
export function rateLimitOf(given: Given): RateLimit | undefined {
  const unitsPerSec = given['rpc.rate-limit']
  if (unitsPerSec === undefined) {
    const idle = limitFlags.find((flag) => given[flag] !== undefined)
    if (idle === undefined) return undefined
    const { env, doc } = flags['rpc.rate-limit']
    throw cliFault('MISSING_FLAG', { flag: 'rpc.rate-limit', variable: env, doc: `${doc}; --${idle} needs it` })
  }
  const path = given['rpc.api-keys']
  return sharedRateLimit({
    rate: { unitsPerSec, burstUnits: given['rpc.rate-burst'] ?? unitsPerSec * burstSec },
    keys: path === undefined ? [] : keysIn(path),
    trustedProxies: given['rpc.trusted-proxies'] ?? [],
  })
}
