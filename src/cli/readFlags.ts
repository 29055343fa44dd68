import type { NodeMode } from '#node/nodeOptions'
import { cliFault } from './faults.ts'
import type { Alias, Flag } from './flagSpec.ts'
import { type FlagName, type FlagValues, flags, type RawFlags, wordOf } from './flags.ts'
import { foreignOf, neutralNameOf, ownedPrefixes, withoutNeutralPrefix } from './otherClientEnv.ts'
import { mostSimilar } from './similar.ts'

/** A log line for the operator about a variable that was read. */
export type Note = {
  readonly level: 'info' | 'warn'
  readonly message: string
  readonly fields: Readonly<Record<string, string>>
}

type AnyFlag = Flag<unknown> & { readonly fallback?: unknown }
/** A value in the flag's own form, and the variable that holds it. */
type Said = { readonly variable: string; readonly text: string; readonly isAddition: boolean; readonly isAlias: boolean }

/** Removes a pair of quotes around a value: shells remove them from env files, Docker does not. */
const unquoted = (value: string): string => /^(["'])(.*)\1$/s.exec(value.trim())?.[2] ?? value.trim()

const textOf = (env: NodeJS.ProcessEnv, name: string): string | undefined => {
  const value = unquoted(env[name] ?? '')
  return value === '' ? undefined : value
}

/** Returns the names of a flag in order of precedence: its own, the older ones, their neutral spellings. */
function namesOf(spec: AnyFlag, mode: NodeMode): readonly Pick<Alias, 'name' | 'translation' | 'isAddition'>[] {
  const aliases = spec.aliases.filter((alias) => alias.modes.includes(mode))
  const neutral = aliases.flatMap((alias) => {
    const name = neutralNameOf(alias.name)
    return name === undefined ? [] : [{ ...alias, name }]
  })
  return [{ name: spec.env, isAddition: false }, ...aliases, ...neutral]
}

function badValue(flag: FlagName, value: string, expected: string, variable?: string): Error {
  const shown = flags[flag].secret ? '(secret)' : value
  return cliFault('BAD_FLAG', { flag: wordOf(flag), value: shown, expected, ...(variable !== undefined && { variable }) })
}

/** Returns every variable that sets the flag, with its value translated. */
function saidIn(flag: FlagName, mode: NodeMode, env: NodeJS.ProcessEnv): readonly Said[] {
  const spec: AnyFlag = flags[flag]
  return namesOf(spec, mode).flatMap(({ name, translation, isAddition }) => {
    const value = textOf(env, name)
    if (value === undefined) return []
    const text = translation ? translation.to(value) : value
    if (text === undefined) throw badValue(flag, value, translation?.expected ?? spec.expected, name)
    if (text === null) return []
    return [{ variable: name, text, isAddition, isAlias: name !== spec.env }]
  })
}

function parsed(flag: FlagName, text: string, variable?: string): unknown {
  const spec: AnyFlag = flags[flag]
  const value = spec.parse(text)
  if (value === undefined) throw badValue(flag, text, spec.expected, variable)
  return value
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Returns the value that the variables agree on, with the items of additional variables appended. @throws Fault CONFLICTING_VARIABLES, BAD_FLAG */
function agreedValue(flag: FlagName, said: readonly Said[]): unknown {
  const [first, ...others] = said.filter(({ isAddition }) => !isAddition)
  const value = first && parsed(flag, first.text, first.variable)
  for (const other of others) {
    if (first && !isSame(value, parsed(flag, other.text, other.variable))) {
      throw cliFault('CONFLICTING_VARIABLES', { flag: wordOf(flag), variables: [first.variable, other.variable] })
    }
  }
  const added = said.filter(({ isAddition }) => isAddition).map(({ text, variable }) => parsed(flag, text, variable))
  return added.length === 0 ? value : [value ?? [], ...added].flat()
}

const noteOfAlias = (flag: FlagName, { variable }: Said): Note => ({
  level: 'info',
  message: 'older name of a variable in use',
  fields: { variable, now: flags[flag].env, flag: `--${wordOf(flag)}` },
})

function readOne(flag: FlagName, mode: NodeMode, raw: RawFlags, env: NodeJS.ProcessEnv): { value: unknown; notes: readonly Note[] } {
  const spec: AnyFlag = flags[flag]
  const given = raw[flag]
  if (given !== undefined) {
    if (!spec.modes.includes(mode)) throw cliFault('WRONG_MODE', { flag: wordOf(flag), mode, modes: spec.modes })
    return { value: parsed(flag, String(given)), notes: [] }
  }
  if (!spec.modes.includes(mode)) return { value: spec.fallback, notes: [] }
  const said = saidIn(flag, mode, env)
  const notes = said.filter(({ isAlias }) => isAlias).map((one) => noteOfAlias(flag, one))
  return { value: agreedValue(flag, said) ?? spec.fallback, notes }
}

/** Origin of a flag's value; `no effect`: the flag has none in the mode. */
export type Origin =
  | { readonly kind: 'command line' | 'default' | 'not set' | 'no effect' }
  | { readonly kind: 'environment'; readonly variables: readonly string[] }

/** Effective value of a flag as text, and where it is from. The text of a secret flag must not be shown. */
export type Explained = { readonly text: string | undefined; readonly from: Origin; readonly notes: readonly Note[] }

/**
 * Returns the value that a flag has in a mode, and its origin.
 * @throws the faults of `readFlagsOfMode` for this flag
 */
export function explainFlag(flag: FlagName, mode: NodeMode, raw: RawFlags, env: NodeJS.ProcessEnv): Explained {
  const spec: AnyFlag & { readonly fallbackText?: string } = flags[flag]
  const { value, notes } = readOne(flag, mode, raw, env)
  if (raw[flag] !== undefined) return { text: String(raw[flag]), from: { kind: 'command line' }, notes }
  if (!spec.modes.includes(mode)) return { text: undefined, from: { kind: 'no effect' }, notes }
  const said = saidIn(flag, mode, env)
  if (said.length > 0) {
    const [first] = said.filter(({ isAddition }) => !isAddition)
    const texts = [...(first ? [first] : []), ...said.filter(({ isAddition }) => isAddition)].map(({ text }) => text)
    return { text: texts.join(','), from: { kind: 'environment', variables: said.map(({ variable }) => variable) }, notes }
  }
  if (value === undefined) return { text: undefined, from: { kind: 'not set' }, notes }
  return { text: spec.fallbackText, from: { kind: 'default' }, notes }
}

/** Names of every flag in every mode: one environment serves both halves. */
const knownNames: ReadonlySet<string> = new Set(
  Object.values(flags).flatMap((spec: AnyFlag) => [spec.env, ...spec.aliases.map(({ name }) => name)]),
)

function noteOfUnknown(variable: string): Note {
  const meant = mostSimilar(
    variable,
    [...knownNames].flatMap((name) => [name, neutralNameOf(name) ?? name]),
  )
  const why = `no flag has this name${meant === undefined ? '' : `, did you mean ${meant}?`}: basalt help node lists them`
  return { level: 'warn', message: 'unknown variable', fields: { variable, why } }
}

/** Returns a note for each variable of another client without effect here, and for each unknown name with a prefix of ours. */
export function strangeVariables(env: NodeJS.ProcessEnv): readonly Note[] {
  return Object.keys(env)
    .sort()
    .flatMap((variable): readonly Note[] => {
      if (textOf(env, variable) === undefined || knownNames.has(withoutNeutralPrefix(variable))) return []
      const foreign = foreignOf(variable)
      if (foreign?.kind === 'elsewhere') return []
      if (foreign) {
        const message = foreign.kind === 'not-yet' ? 'variable has no effect yet' : 'variable has no meaning here'
        return [{ level: 'warn', message, fields: { variable, why: foreign.why } }]
      }
      return ownedPrefixes.some((prefix) => variable.startsWith(prefix)) ? [noteOfUnknown(variable)] : []
    })
}

export type GivenFlags<N extends FlagName> = { readonly values: FlagValues<N>; readonly notes: readonly Note[] }

/**
 * Reads the flags of one mode: the command line overrides the environment, the environment overrides the fallback. All variables of one flag must
 * agree. A flag without effect in the mode is refused on the command line and ignored in the environment, which may serve both halves.
 * @throws Fault BAD_FLAG, CONFLICTING_VARIABLES, WRONG_MODE (fatal)
 */
export function readFlagsOfMode<N extends FlagName>(
  names: readonly N[],
  mode: NodeMode,
  raw: RawFlags,
  env: NodeJS.ProcessEnv,
): GivenFlags<N> {
  const notes: Note[] = []
  const values: Record<string, unknown> = {}
  for (const name of names) {
    const read = readOne(name, mode, raw, env)
    values[name] = read.value
    notes.push(...read.notes)
  }
  return { values: values as FlagValues<N>, notes }
}

/**
 * Reads the flags of a command without modes.
 * @throws Fault BAD_FLAG naming flag, value and form; CONFLICTING_VARIABLES
 */
export function readFlags<N extends FlagName>(names: readonly N[], raw: RawFlags, env: NodeJS.ProcessEnv): FlagValues<N> {
  return readFlagsOfMode(names, 'all', raw, env).values
}

/** Returns the value of a flag that a command needs. @throws Fault MISSING_FLAG (fatal) */
export function needed<T>(flag: FlagName, value: T | undefined): T {
  if (value === undefined) throw cliFault('MISSING_FLAG', { flag: wordOf(flag), variable: flags[flag].env, doc: flags[flag].doc })
  return value
}
