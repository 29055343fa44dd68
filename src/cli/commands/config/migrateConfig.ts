import type { NodeMode } from '#node/nodeOptions'
import type { Alias, Flag } from '../../flagSpec.ts'
import { type FlagName, flags } from '../../flags.ts'
import { publishedSecret } from '../../nodeOptions.ts'
import { foreignOf, neutralNameOf, withoutNeutralPrefix } from '../../otherClientEnv.ts'

/** Outcome of a line of an env file. */
export type MigratedLine = {
  /** number of the line, from 1 */
  readonly line: number
  readonly variable: string
  readonly outcome: 'kept' | 'renamed' | 'translated' | 'dropped' | 'invalid'
  /** lines of the new file */
  readonly lines: readonly string[]
  readonly reason: string
}

type AnyFlag = Flag<unknown>
type Named = { readonly flag: FlagName; readonly alias: Pick<Alias, 'translation' | 'modes'> | undefined }

/** Every name of every flag of any mode, the neutral spellings included. */
function flagsNamed(variable: string): readonly Named[] {
  return (Object.keys(flags) as FlagName[]).flatMap((flag): Named[] => {
    const spec: AnyFlag = flags[flag]
    if (spec.env === variable) return [{ flag, alias: undefined }]
    return spec.aliases.filter(({ name }) => name === variable || neutralNameOf(name) === variable).map((alias) => ({ flag, alias }))
  })
}

/** Arguments of reth's pruning with a counterpart here, which counts blocks too. */
const pruning: Readonly<Record<string, FlagName>> = {
  accounthistory: 'retain.history',
  storagehistory: 'retain.history',
  bodies: 'retain.bodies',
  receipts: 'retain.receipts',
}

/** Translates `--prune.bodies.distance=50000` to `BASALT_RETAIN_BODIES=50000b`; of two distances for one flag the longer one counts. */
function pruningLines(value: string): readonly string[] {
  const blocks = new Map<FlagName, number>()
  for (const [, segment = '', distance] of value.matchAll(/--prune\.(\w+)\.distance[= ](\d{1,9})/g)) {
    const flag = pruning[segment]
    if (flag) blocks.set(flag, Math.max(blocks.get(flag) ?? 0, Number(distance)))
  }
  return [...blocks].map(([flag, distance]) => `${flags[flag].env}=${distance}b`)
}

const unquoted = (value: string): string => /^(["'])(.*)\1$/s.exec(value.trim())?.[2] ?? value.trim()

function migratedFlag({ flag, alias }: Named, value: string, mode: NodeMode): Omit<MigratedLine, 'line' | 'variable'> {
  const spec: AnyFlag = flags[flag]
  const dropped = (reason: string): Omit<MigratedLine, 'line' | 'variable'> => ({ outcome: 'dropped', lines: [], reason })
  if (alias && !alias.modes.includes(mode))
    return dropped(`it sets --${flag} in ${alias.modes.join(' and ')} mode only; this file is for ${mode} mode`)
  if (!spec.modes.includes(mode)) return dropped(`--${flag} has no effect in ${mode} mode, only in ${spec.modes.join(' or ')}`)
  if (flag === 'jwt.secret' && value.replace(/^0x/i, '').toLowerCase() === publishedSecret) {
    return dropped('the secret is a public sample; the node creates one of its own')
  }
  const translated = alias?.translation ? alias.translation.to(value) : value
  if (translated === null) return dropped(`it states what --${flag} does by default`)
  const isGood = translated !== undefined && spec.parse(translated) !== undefined
  if (!isGood) return { outcome: 'invalid', lines: [], reason: `its value is not ${alias?.translation?.expected ?? spec.expected}` }
  const lines = [`${spec.env}=${translated}`]
  if (alias === undefined) return { outcome: 'kept', lines, reason: `sets --${flag}` }
  if (translated === value) return { outcome: 'renamed', lines, reason: `an older name of ${spec.env}` }
  return { outcome: 'translated', lines, reason: `an older name of ${spec.env}, whose values have another form` }
}

function migratedVariable(variable: string, value: string, mode: NodeMode): Omit<MigratedLine, 'line' | 'variable'> {
  if (value === '') return { outcome: 'dropped', lines: [], reason: 'empty' }
  if (withoutNeutralPrefix(variable) === 'RETH_PRUNING_ARGS') {
    const lines = mode === 'consensus' ? [] : pruningLines(value)
    const reason =
      'arguments of another client; distances in blocks, as before: a time such as 7d keeps its meaning when the block time changes'
    return { outcome: lines.length > 0 ? 'translated' : 'dropped', lines, reason }
  }
  const named = flagsNamed(variable)
  const chosen = named.find(({ alias }) => alias === undefined || alias.modes.includes(mode)) ?? named[0]
  if (chosen) return migratedFlag(chosen, value, mode)
  const foreign = foreignOf(variable)
  if (foreign?.kind === 'elsewhere') return { outcome: 'kept', lines: [`${variable}=${value}`], reason: foreign.why }
  return { outcome: 'dropped', lines: [], reason: foreign?.why ?? 'no flag has this name' }
}

/**
 * Translates the env file of a deployment, of this or of another client. Of several variables that set one flag the first in the order of precedence
 * counts, and variables that agree with it are dropped.
 * @param text lines of NAME=value; `export` before the name, quotes, comments and empty lines are understood
 */
export function migrateEnv(text: string, mode: NodeMode): readonly MigratedLine[] {
  const seen = new Map<string, string>()
  return text.split('\n').flatMap((full, index): MigratedLine[] => {
    const [, variable, rest = ''] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/.exec(full.trimEnd()) ?? []
    if (variable === undefined) return []
    const line = index + 1
    const migrated = migratedVariable(variable, unquoted(withoutComment(rest)), mode)
    const isRepeated = migrated.lines.length > 0 && migrated.lines.every((one) => seen.has(one))
    if (isRepeated) return [{ line, variable, outcome: 'dropped', lines: [], reason: `${seen.get(migrated.lines[0] ?? '')} sets the same` }]
    for (const one of migrated.lines) seen.set(one, variable)
    return [{ line, variable, ...migrated }]
  })
}

/** Removes a comment after an unquoted value, as Docker Compose does. */
const withoutComment = (text: string): string => (/^\s*["']/.test(text) ? text : text.replace(/\s#.*$/, ''))

/** Returns the new env file, with a comment above each line that is not simply kept. */
export function migratedFile(lines: readonly MigratedLine[], mode: NodeMode): string {
  const head = mode === 'all' ? [] : [`${flags.mode.env}=${mode}`]
  const body = lines.flatMap(({ variable, outcome, lines: made, reason }) => {
    if (outcome === 'kept') return made
    return [`# ${variable}: ${outcome}; ${reason}`, ...made]
  })
  return [...head, ...body, ''].join('\n')
}
