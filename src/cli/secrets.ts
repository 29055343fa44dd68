import { endpointOf } from '#lib/endpoint'
import type { Io } from './command.ts'
import { type FlagName, flags, type RawFlags } from './flags.ts'
import { neutralNameOf } from './otherClientEnv.ts'

const hidden = '(secret)'
/** Shorter texts are words rather than keys. */
const leastKeyChars = 8
const leastValueChars = 4

/**
 * Returns the texts of a URL that may be a key: user and password, also as they are in a header, values of the query, and segments of the path that look
 * like a key.
 */
function keysOfUrl(text: string): readonly string[] {
  if (!URL.canParse(text)) return []
  const url = new URL(text)
  const { username, password, pathname, searchParams } = url
  const segments = pathname.split('/').filter((part) => part.length >= leastKeyChars && (/\d/.test(part) || part.length >= 20))
  const values = [username, password, ...searchParams.values()].filter((value) => value.length >= leastValueChars)
  const header = endpointOf(url).headers['authorization']?.split(' ').slice(1) ?? []
  return [...header, ...[...segments, ...values].flatMap((key) => [key, decoded(key)])]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a `%` that does not begin an escape
  }
}

/** Returns the secret texts of a value of a flag: the keys of its URLs, or the value itself. */
function secretsOf(flag: FlagName, value: string): readonly string[] {
  const parts = value.split(',').map((one) => one.trim().replaceAll(/^["']|["']$/g, ''))
  const whole = (part: string): readonly string[] => (flags[flag].secret === 'in URLs' ? [] : [part, part.replace(/^0x/, '')])
  return parts.flatMap((part) => (URL.canParse(part) ? keysOfUrl(part) : whole(part))).filter((key) => key.length >= leastValueChars)
}

/** Returns `DIR` or `URL[,URL]` as it may be stored and printed: URLs without user, password and query, and with keys in their paths hidden. */
export function shownPlace(text: string): string {
  const shown = (url: string): string => {
    const { origin, pathname } = new URL(url)
    return keysOfUrl(url).reduce((rest, key) => rest.replaceAll(key, hidden), `${origin}${pathname}`)
  }
  return text
    .split(',')
    .map((part) => (/^\s*https?:/i.test(part) && URL.canParse(part) ? shown(part) : part))
    .join(',')
}

/** Returns every secret text on the command line and in the environment, by the tables of flags; longer ones first. */
export function knownSecrets(raw: RawFlags, env: NodeJS.ProcessEnv): readonly string[] {
  const texts = (Object.keys(flags) as FlagName[])
    .filter((name) => flags[name].secret)
    .flatMap((name) => {
      const names = [flags[name].env, ...flags[name].aliases.map((alias) => alias.name)]
      const variables = names.flatMap((one) => [env[one], env[neutralNameOf(one) ?? '']])
      return [raw[name], ...variables].filter((text) => typeof text === 'string').flatMap((text) => secretsOf(name, text))
    })
  return [...new Set(texts)].toSorted((a, b) => b.length - a.length)
}

/**
 * Returns the same streams, on which each known secret is replaced. Commands print no secret on purpose; this also covers texts of other programs that
 * quote one.
 */
export function withoutSecrets(io: Io, secrets: readonly string[]): Io {
  if (secrets.length === 0) return io
  const masked = (text: string): string => secrets.reduce((rest, secret) => rest.replaceAll(secret, hidden), text)
  return {
    ...io,
    out: { write: (text) => io.out.write(masked(text)) },
    err: { isTerminal: io.err.isTerminal, write: (text) => io.err.write(masked(text)) },
  }
}
