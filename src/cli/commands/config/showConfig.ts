import { isFault } from '#lib/fault'
import type { NodeMode } from '#node/nodeOptions'
import { type FlagName, flags, type RawFlags, wordOf } from '../../flags.ts'
import { nodeFlags } from '../../nodeOptions.ts'
import { explainFlag, type Origin, readFlags } from '../../readFlags.ts'
import { shownPlace } from '../../secrets.ts'

/** Effective value of a flag, and where it is from. */
export type Setting = {
  readonly flag: string
  /** null: not set; the value of a secret is hidden */
  readonly value: string | null
  readonly from: Origin['kind'] | 'invalid'
  readonly variables: readonly string[]
  /** null: valid */
  readonly problem: string | null
}

/** Hides a secret: of a URL the host remains, which is no secret. */
function shown(flag: FlagName, value: string): string {
  const { secret } = flags[flag]
  if (!secret || (secret === 'in URLs' && shownPlace(value) === value)) return value
  const parts = value.split(',').map((part) => (URL.canParse(part) ? new URL(part).host : ''))
  return [...parts.filter((host) => host !== ''), '(secret)'].join(' ')
}

function settingOf(flag: FlagName, mode: NodeMode, raw: RawFlags, env: NodeJS.ProcessEnv): Setting {
  try {
    const { text, from } = explainFlag(flag, mode, raw, env)
    return {
      flag: wordOf(flag),
      value: text === undefined ? null : shown(flag, text),
      from: from.kind,
      variables: from.kind === 'environment' ? from.variables : [],
      problem: null,
    }
  } catch (error) {
    if (!isFault(error)) throw error
    return { flag: wordOf(flag), value: null, from: 'invalid', variables: [], problem: error.message }
  }
}

/** Returns every flag of `basalt node`, with the value that a node started now would use. */
export function settingsOf(raw: RawFlags, env: NodeJS.ProcessEnv): readonly Setting[] {
  const { mode } = readFlags(['mode'], raw, env)
  return nodeFlags.map((flag) => settingOf(flag, mode, raw, env))
}

/** Describes the origin of a value: `BASE_NODE_L1_ETH_RPC, now BASALT_L1_RPC`. */
export function originText({ flag, from, variables, problem }: Setting): string {
  if (problem !== null) return `invalid: ${problem}`
  if (from !== 'environment') return from
  const own = nodeFlags.find((name) => wordOf(name) === flag)
  const name = own && flags[own].env
  return variables.map((variable) => (variable === name ? variable : `${variable}, an older name of ${name}`)).join('; ')
}
