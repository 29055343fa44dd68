import { isFault } from '#lib/fault'
import { checkOptions, type NodeMode, type NodeOptions } from '#node/nodeOptions'
import { type ChosenChain, chooseChain } from '../chosenChain.ts'
import { packageVersion } from '../commands/version.ts'
import type { FlagValues, RawFlags } from '../flags.ts'
import { readSecret } from '../jwtFile.ts'
import { nodeFlags, nodeOptionsOf, publishedSecret, unusedSecretFile } from '../nodeOptions.ts'
import { explainFlag, type Note, readFlags, readFlagsOfMode, strangeVariables } from '../readFlags.ts'
import { checked, type Finding, findingOf } from './finding.ts'

export type NodeValues = FlagValues<(typeof nodeFlags)[number]>

/** Settings of a node, as far as they are valid. */
export type Settings = {
  readonly mode: NodeMode
  readonly findings: readonly Finding[]
  /** undefined: a flag is invalid */
  readonly values: NodeValues | undefined
  readonly chain: ChosenChain | undefined
  /** undefined: the node would not start */
  readonly options: NodeOptions | undefined
}

const noSecret = new Uint8Array(32)

const findingOfNote = ({ message, fields }: Note): Finding => ({
  level: 'warning',
  where: String(fields['variable'] ?? fields['flag']),
  what: message,
  fix: String(fields['why'] ?? ''),
})

/** Checks each flag by itself, so that one invalid flag does not hide the next. */
function flagFindings(mode: NodeMode, raw: RawFlags, env: NodeJS.ProcessEnv): readonly Finding[] {
  return nodeFlags.flatMap((flag) => {
    try {
      return explainFlag(flag, mode, raw, env)
        .notes.filter(({ level }) => level === 'warn')
        .map(findingOfNote)
    } catch (error) {
      if (!isFault(error)) throw error
      return [findingOf(error)]
    }
  })
}

/** Returns the warnings that `basalt node` logs at its start. */
function warningsOf(values: NodeValues, raw: RawFlags, mode: NodeMode): readonly Finding[] {
  const warnings: Finding[] = []
  const warn = (where: string, what: string, fix: string): void => void warnings.push({ level: 'warning', where, what, fix })
  if (mode !== 'execution' && values['l1.rpc'] && !values['l1.beacon']) {
    warn('--l1.beacon', 'not set: the node stops at the first L1 block whose blobs it needs', 'name a beacon API of L1')
  }
  if (mode !== 'execution' && !values['l1.rpc'] && values['source.l2.rpc']) {
    warn('--l1.rpc', 'not set: the followed node determines the safe and finalized heads', 'name an L1 endpoint to verify them')
  }
  if (mode !== 'all' && values['jwt.secret'] === publishedSecret) {
    warn('--jwt.secret', 'the secret of the Engine API is a public sample', 'remove it: the node creates a secret')
  }
  const unused = mode === 'all' ? undefined : unusedSecretFile(values, raw)
  if (unused !== undefined) warn(unused, 'the file is not used, because --jwt.secret is set', 'remove one of the two')
  return warnings
}

/** Makes the options of the node without any effect: a secret that does not exist is not created. @throws their faults */
function optionsOf(values: NodeValues, chain: ChosenChain, nowMs: number): NodeOptions {
  const options = nodeOptionsOf(
    values,
    { config: chain.config, genesis: () => chain.genesis },
    packageVersion(),
    nowMs,
    (path) => readSecret(path) ?? noSecret,
  )
  checkOptions(options)
  return options
}

/** Checks flags, variables and the files that they name, as `basalt node` does before it opens anything. Writes nothing. */
export function checkSettings(raw: RawFlags, env: NodeJS.ProcessEnv, nowMs: number): Settings {
  const findings: Finding[] = []
  const mode = checked(findings, () => readFlags(['mode'], raw, env).mode) ?? 'all'
  findings.push(...strangeVariables(env).map(findingOfNote))
  const ofFlags = flagFindings(mode, raw, env)
  findings.push(...ofFlags.filter(({ what }) => !findings.some((known) => known.what === what)))
  const isValid = !findings.some(({ level }) => level === 'error')
  const values = isValid ? checked(findings, () => readFlagsOfMode(nodeFlags, mode, raw, env).values) : undefined
  if (values === undefined) return { mode, findings, values, chain: undefined, options: undefined }
  const chain = checked(findings, () => chooseChain(values))
  for (const what of chain?.warnings ?? []) {
    findings.push({ level: 'warning', where: 'a file of the chain', what, fix: 'check whether a newer version understands the entry' })
  }
  findings.push(...(checked(findings, () => warningsOf(values, raw, mode)) ?? []))
  const options = chain && checked(findings, () => optionsOf(values, chain, nowMs))
  return { mode, findings, values, chain, options }
}
