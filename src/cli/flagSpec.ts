import { isIP } from 'node:net'
import type { NodeMode } from '#node/nodeOptions'
import type { ChainDistance } from '#types/chainDistance'
import type { Translation } from './translations.ts'

export const modes = ['all', 'execution', 'consensus'] as const satisfies readonly NodeMode[]

/** An older name of a variable, or another client's. */
export type Alias = {
  readonly name: string
  /** from the older form of the value to that of the flag; absent: the forms are the same */
  readonly translation?: Translation
  /** modes in which the name applies to this flag: one environment file serves both halves */
  readonly modes: readonly NodeMode[]
  /** its items are appended to those of the other names instead of contradicting them */
  readonly isAddition: boolean
}

export const flagGroups = [
  'Chain',
  'L1',
  'Trust',
  'Halves',
  'Follow mode',
  'Flashblocks',
  'Peers',
  'Servers',
  'Storage',
  'Snapshots',
  'Devnet',
  'Proofs',
  'Running node',
  'Traces',
  'Output',
] as const

export type FlagGroup = (typeof flagGroups)[number]

/** A flag without its place among the others. `parse` does not throw: it returns undefined for a bad value. */
export type FlagSpec<T> = {
  readonly aliases: readonly Alias[]
  readonly doc: string
  /** name on the command line, of a flag that only some commands have; absent: the flag's name */
  readonly word?: string
  /** modes of `node` in which the flag has an effect; absent: those of its group */
  readonly modes?: readonly NodeMode[]
  /** Written `--flag <placeholder>`; a switch has none. */
  readonly placeholder?: string
  /** Description of a valid value, for the error: `a port (0–65535)`. */
  readonly expected: string
  /** Never logged, never printed; `in URLs`: only the keys of URLs, any other value is no secret. */
  readonly secret: boolean | 'in URLs'
  readonly parse: (text: string) => T | undefined
}

type Placed = { readonly env: string; readonly group: FlagGroup; readonly modes: readonly NodeMode[] }

/** One flag, for command line, environment, help and reference. */
export type Flag<T> = FlagSpec<T> & Placed

type Fallback<T> = { readonly fallback: T; readonly fallbackText: string }
/** A flag that always has a value. */
export type DefaultedFlag<T> = Flag<T> & Fallback<T>

export type FlagOptions = {
  doc: string
  word?: string
  aliases?: readonly Alias[]
  modes?: readonly NodeMode[]
  secret?: boolean | 'in URLs'
}

/** Older names of a flag, all with the same form of value. */
export function older(
  names: string | readonly string[],
  options: { translation?: Translation; modes?: readonly NodeMode[]; isAddition?: boolean } = {},
): readonly Alias[] {
  const { translation, modes: meantIn = modes, isAddition = false } = options
  return [names].flat().map((name) => ({ name, modes: meantIn, isAddition, ...(translation && { translation }) }))
}

/** Places flags in a group. A flag's variable is named after the flag: `http.port` is BASALT_HTTP_PORT. */
export function inGroup<const S extends Readonly<Record<string, FlagSpec<unknown>>>>(
  group: FlagGroup,
  specs: S,
  { modes: ofGroup = modes, prefix = 'BASALT_' }: { readonly modes?: readonly NodeMode[]; readonly prefix?: string } = {},
): { readonly [N in keyof S]: S[N] & Placed } {
  const placed = Object.entries(specs).map(([name, spec]): [string, Flag<unknown>] => {
    const env = prefix + name.toUpperCase().replaceAll(/[.-]/g, '_')
    return [name, { ...spec, env, group, modes: spec.modes ?? ofGroup }]
  })
  return Object.fromEntries(placed) as unknown as { readonly [N in keyof S]: S[N] & Placed }
}

function flag<T>(
  options: FlagOptions,
  placeholder: string | undefined,
  expected: string,
  parse: (text: string) => T | undefined,
): FlagSpec<T> {
  const spec = { aliases: [], secret: false, ...options, expected, parse }
  return placeholder === undefined ? spec : { ...spec, placeholder }
}

export const defaulted = <T>(spec: FlagSpec<T>, fallback: T, fallbackText: string = String(fallback)): FlagSpec<T> & Fallback<T> => ({
  ...spec,
  fallback,
  fallbackText,
})

export const text = (options: FlagOptions, placeholder: string): FlagSpec<string> =>
  flag(options, placeholder, 'a text', (value) => (value === '' ? undefined : value))

export const choice = <const T extends string>(options: FlagOptions, choices: readonly T[]): FlagSpec<T> =>
  flag(options, choices.join('|'), `one of ${choices.join(', ')}`, (value) => choices.find((one) => one === value))

function parseInteger(value: string, min: number, max: number): number | undefined {
  if (!/^\d{1,15}$/.test(value)) return undefined
  const number = Number(value)
  return number >= min && number <= max ? number : undefined
}

export function integer(options: FlagOptions, placeholder: string, min: number, max: number): FlagSpec<number> {
  return flag(options, placeholder, `an integer from ${min} to ${max}`, (value) => parseInteger(value, min, max))
}

export const port = (options: FlagOptions): FlagSpec<number | 'off'> =>
  flag(options, 'PORT', 'an integer from 0 to 65535, or off', (value) => (value === 'off' ? 'off' : parseInteger(value, 0, 65_535)))

const isUrl = (value: string, protocols: RegExp): boolean => URL.canParse(value) && protocols.test(new URL(value).protocol)

export const url = (options: FlagOptions, protocols: readonly string[]): FlagSpec<string> =>
  flag(options, 'URL', `a URL that begins with ${protocols.map((one) => `${one}://`).join(' or ')}`, (value) =>
    isUrl(value, new RegExp(`^(?:${protocols.join('|')}):$`)) ? value : undefined,
  )

/** One URL of a node, or its HTTP URL, a comma and its WebSocket URL. */
export const nodeUrl = (options: FlagOptions): FlagSpec<string> =>
  flag(
    options,
    'URL[,WS-URL]',
    'a URL that begins with http:// or https:// or ws:// or wss://; after an http one a comma and a ws one',
    (value) => {
      const [first = '', second, ...more] = value.split(',').map((one) => one.trim())
      if (second === undefined) return isUrl(first, /^(?:https?|wss?):$/) ? first : undefined
      return more.length === 0 && isUrl(first, /^https?:$/) && isUrl(second, /^wss?:$/) ? `${first},${second}` : undefined
    },
  )

/** Splits a value at commas; undefined: an item is not valid. */
function parseList(value: string, isGood: (one: string) => boolean): readonly string[] | undefined {
  const list = value.split(',').map((one) => one.trim())
  return list.every(isGood) ? list : undefined
}

/** @param scheme of each URL; the scheme with an `s` is accepted too */
export const urls = (options: FlagOptions, scheme: 'http' | 'ws' = 'http'): FlagSpec<readonly string[]> =>
  flag(options, 'URL[,URL]', `a list of ${scheme} or ${scheme}s URLs`, (value) => {
    return parseList(value, (one) => isUrl(one, new RegExp(`^${scheme}s?:$`)))
  })

export const hostNames = (options: FlagOptions): FlagSpec<readonly string[]> =>
  flag(options, 'NAME[,NAME]', 'a list of host names without ports', (value) =>
    parseList(value.toLowerCase(), (one) => /^[a-z0-9_](?:[a-z0-9._-]{0,252})$/.test(one)),
  )

const knownNamespaces = ['eth', 'net', 'web3', 'rpc', 'txpool', 'debug', 'trace', 'base', 'basalt', 'admin', 'miner']

export const namespaces = (options: FlagOptions): FlagSpec<readonly string[] | 'all'> =>
  flag(options, 'NAME[,NAME]', `all, none, or a list of ${knownNamespaces.join(', ')}`, (value) => {
    if (value === 'all') return value
    return value === 'none' ? [] : parseList(value, (one) => knownNamespaces.includes(one))
  })

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text

export const origins = (options: FlagOptions): FlagSpec<readonly string[] | 'any'> =>
  flag(options, 'ORIGIN[,ORIGIN]', '*, or a list of origins such as https://wallet.example', (value) =>
    value === '*' ? 'any' : parseList(value, isOrigin),
  )

/** Returns whether a text is an IP address, or a network such as `10.0.0.0/8`. */
function isAddressRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
}

export const addressRanges = (options: FlagOptions): FlagSpec<readonly string[]> =>
  flag(options, 'ADDRESS[,ADDRESS]', 'a list of IP addresses, or networks such as 10.0.0.0/8', (value) => parseList(value, isAddressRange))

const distanceUnits: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400 }

function distanceOf(value: string): ChainDistance | undefined {
  const [, digits = '', unit = ''] = /^([1-9]\d{0,8})([smhdb]?)$/.exec(value) ?? []
  if (digits === '') return undefined
  return unit === 'b' ? { blocks: Number(digits) } : { sec: Number(digits) * (distanceUnits[unit] ?? 0) }
}

export const chainDistance = (options: FlagOptions): FlagSpec<ChainDistance> =>
  flag(options, 'TIME', 'a number of seconds, a time such as 90m, 36h or 7d, or a number of blocks written 512b', distanceOf)

/** A distance, or all. @param plain unit of a number without one */
export const retention = (options: FlagOptions, plain: 's' | 'b' = 's'): FlagSpec<ChainDistance | 'all'> =>
  flag(
    options,
    'TIME',
    `${plain === 's' ? 'a number of seconds, ' : ''}a time such as 90m, 36h or 7d, a number of blocks written 512${plain === 's' ? 'b' : ' or 512b'}, or all`,
    (value) => (value === 'all' ? value : distanceOf(/^\d+$/.test(value) ? value + plain : value)),
  )

/** A block number, or a distance before the head. */
export const start = (options: FlagOptions): FlagSpec<number | ChainDistance> =>
  flag(options, 'BLOCK|TIME', 'a block number, or a time such as 90m, 36h or 7d', (value) =>
    /^\d{1,15}$/.test(value) ? Number(value) : distanceOf(value),
  )

export const blockNumber = (options: FlagOptions): FlagSpec<number> =>
  flag(options, 'BLOCK', 'a block number', (value) => (/^\d{1,15}$/.test(value) ? Number(value) : undefined))

/** A number of random members, or all of them. */
export const sample = (options: FlagOptions): FlagSpec<number | 'all'> =>
  flag(options, 'N', 'a number from 1, or all', (value) =>
    value === 'all' ? value : /^[1-9]\d{0,8}$/.test(value) ? Number(value) : undefined,
  )

const byteUnits: Readonly<Record<string, number>> = { '': 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 }

export const bytes = (options: FlagOptions): FlagSpec<number> =>
  flag(options, 'BYTES', 'a number of bytes, such as 500MB or 2GB', (value) => {
    const [, digits = '', unit = ''] = /^(\d{1,12})(KB|MB|GB|TB)?$/i.exec(value) ?? []
    if (digits === '') return undefined
    const count = Number(digits) * (byteUnits[unit.toUpperCase()] ?? 1)
    return Number.isSafeInteger(count) ? count : undefined
  })

export const secretHex = (options: FlagOptions): FlagSpec<string> =>
  flag({ ...options, secret: true }, 'HEX', '64 hex digits', (value) => {
    const [, digits] = /^(?:0x)?([0-9a-f]{64})$/i.exec(value) ?? []
    return digits?.toLowerCase()
  })

export const onOff = (options: FlagOptions): FlagSpec<boolean> & Fallback<boolean> =>
  defaulted(
    flag<boolean>(options, undefined, 'true or false', (value) => (value === 'true' ? true : value === 'false' ? false : undefined)),
    false,
  )

const timeUnits: Readonly<Record<string, number>> = { '': 1_000, s: 1_000, ms: 1 }

/** A time, in milliseconds. */
export const duration = (options: FlagOptions, expected: string, isGood: (ms: number) => boolean = () => true): FlagSpec<number> =>
  flag(options, 'TIME', expected, (value) => {
    const [, digits = '', unit = ''] = /^(\d{1,5})(s|ms)?$/.exec(value) ?? []
    const ms = Number(digits) * (timeUnits[unit] ?? 0)
    return digits !== '' && isGood(ms) ? ms : undefined
  })

/** A share from 0 to 1. */
export const ratio = (options: FlagOptions): FlagSpec<number> =>
  flag(options, 'RATIO', 'a number from 0 to 1, such as 0.05', (value) => {
    const number = /^(?:\d(?:\.\d{1,9})?|\.\d{1,9})$/.test(value) ? Number(value) : Number.NaN
    return number >= 0 && number <= 1 ? number : undefined
  })

/** Headers of HTTP: names, and values that may be escaped as in a URL. */
export const headerList = (options: FlagOptions): FlagSpec<Readonly<Record<string, string>>> =>
  flag(options, 'NAME=VALUE[,NAME=VALUE]', 'a list of headers written name=value', (value) => {
    const pairs = parseList(value, (one) => /^[\w!#$%&'*+.^`|~-]+ *= *[\x20-\x7e]*$/.test(one))?.map((one) => {
      const at = one.indexOf('=')
      return [one.slice(0, at).trim().toLowerCase(), one.slice(at + 1).trim()] as const
    })
    try {
      return pairs && Object.fromEntries(pairs.map(([name, text]) => [name, decodeURIComponent(text)]))
    } catch {
      return undefined
    }
  })

const weiUnits: Readonly<Record<string, number>> = { '': 0, wei: 0, gwei: 9, ether: 18, eth: 18 }

/** An amount of ether, in wei. */
export const amount = (options: FlagOptions): FlagSpec<bigint> =>
  flag(options, 'AMOUNT', 'an amount such as 1.5ether, 20gwei or 1000 (wei)', (value) => {
    const [, whole = '', fraction = '', unit = ''] = /^(\d{1,30})(?:\.(\d{1,18}))?(wei|gwei|eth|ether)?$/i.exec(value) ?? []
    const decimals = weiUnits[unit.toLowerCase()] ?? 0
    return whole === '' || fraction.length > decimals ? undefined : BigInt(whole + fraction.padEnd(decimals, '0'))
  })

export const addressText = (options: FlagOptions): FlagSpec<string> =>
  flag(options, 'ADDRESS', 'an address (0x and 40 hex digits)', (value) =>
    /^0x[0-9a-f]{40}$/i.test(value) ? value.toLowerCase() : undefined,
  )

export const addresses = (options: FlagOptions): FlagSpec<readonly string[]> =>
  flag(options, 'ADDRESS[,ADDRESS]', 'a list of addresses (0x and 40 hex digits)', (value) =>
    parseList(value.toLowerCase(), (one) => /^0x[0-9a-f]{40}$/.test(one)),
  )

/** A hash or another value of 32 bytes. */
export const hashText = (options: FlagOptions): FlagSpec<string> =>
  flag(options, 'HEX', '32 bytes (0x and 64 hex digits)', (value) => (/^0x[0-9a-f]{64}$/i.test(value) ? value.toLowerCase() : undefined))

/** A list of storage slots, each of at most 32 bytes. */
export const slots = (options: FlagOptions): FlagSpec<readonly string[]> =>
  flag(options, 'HEX[,HEX]', 'a list of slots (0x and 1 to 64 hex digits)', (value) =>
    parseList(value.toLowerCase(), (one) => /^0x[0-9a-f]{1,64}$/.test(one)),
  )

/** A text that matches a pattern. */
export const pattern = (options: FlagOptions, placeholder: string, expected: string, form: RegExp): FlagSpec<string> =>
  flag(options, placeholder, expected, (value) => (form.test(value) ? value : undefined))

/** An unsigned integer of 64 bits, in decimal or in hex. */
export const uint64 = (options: FlagOptions, placeholder: string): FlagSpec<bigint> =>
  flag(options, placeholder, 'an integer from 0 to 18446744073709551615, in decimal or 0x hex', (value) => {
    if (!/^(?:\d{1,20}|0x[0-9a-f]{1,16})$/i.test(value)) return undefined
    const number = BigInt(value)
    return number < 1n << 64n ? number : undefined
  })

export const hexText = (options: FlagOptions): FlagSpec<string> =>
  flag(options, 'HEX', 'bytes (0x and an even number of hex digits)', (value) =>
    /^0x(?:[0-9a-f]{2})*$/i.test(value) ? value.toLowerCase() : undefined,
  )
