import type { NativeHost } from '../host.ts'
import { silentRevert } from '../kit/ends.ts'
import { FunctionTable, type NativeFunction, nativeFunction } from '../kit/functions.ts'
import { asFlag, asNumber, asText } from '../kit/results.ts'
import type { NativeRules } from '../rules.ts'
import { announceFunctions } from './announce.ts'
import { assetFields, stablecoinFields } from './fields.ts'
import { TokenFrame, type TokenVariant } from './frame.ts'
import { extraMetadataFunctions, metadataFunctions } from './metadata.ts'
import { multiplierFunctions, scheduledMultiplierFunctions } from './multiplier.ts'
import { pauseFunctions } from './pause.ts'
import { permitFunctions } from './permit.ts'
import { policyFunctions, seizePolicyFunctions } from './policies.ts'
import { assetRoleFunctions, roleFunctions, seizeRoleFunctions } from './roles.ts'
import { assetSupplyFunctions, seizeFunctions, supplyFunctions } from './supply.ts'
import { transferFunctions } from './transfers.ts'

export const stablecoinDecimals = 6
const defaultAssetDecimals = 6

/** Interfaces that an asset supports from Cobalt on: ERC-165, and the parts of ERC-8056. */
const assetInterfaces: ReadonlySet<number> = new Set([0x01ffc9a7, 0xa60bf13d, 0x4bd27648, 0xd890fd71, 0x57854fc3])

function assetDecimals({ storage }: TokenFrame): number {
  return (storage.read(assetFields.decimals)[0] as number) & 0xff || defaultAssetDecimals
}

function commonFunctions(rules: NativeRules): readonly NativeFunction<TokenFrame>[] {
  return [
    ...transferFunctions,
    ...supplyFunctions,
    ...metadataFunctions,
    ...permitFunctions,
    ...roleFunctions,
    ...policyFunctions,
    ...pauseFunctions(rules),
    ...(rules.hasSeize ? [...seizeFunctions, ...seizeRoleFunctions, ...seizePolicyFunctions] : []),
  ]
}

function assetFunctions(rules: NativeRules): readonly NativeFunction<TokenFrame>[] {
  return [
    ...multiplierFunctions,
    ...announceFunctions((frame) => tokenFunctions(frame.rules, 'asset')),
    ...assetSupplyFunctions,
    ...extraMetadataFunctions,
    ...assetRoleFunctions,
    nativeFunction('decimals()', (frame: TokenFrame) => asNumber(assetDecimals(frame))),
    ...(rules.hasScheduledMultiplier
      ? [...scheduledMultiplierFunctions, nativeFunction('supportsInterface(bytes4)', supportsInterface)]
      : []),
  ]
}

function supportsInterface(_: TokenFrame, args: { word(index: number): Uint32Array }): Uint8Array {
  return asFlag(assetInterfaces.has(args.word(0)[7] as number))
}

const stablecoinFunctions: readonly NativeFunction<TokenFrame>[] = [
  nativeFunction('decimals()', (_: TokenFrame) => asNumber(stablecoinDecimals)),
  nativeFunction('currency()', ({ storage }: TokenFrame) => asText(storage.readText(stablecoinFields.currency))),
]

type Tables = Readonly<Record<TokenVariant, FunctionTable<TokenFrame>>>
const tables = new WeakMap<NativeRules, Tables>()
/** Rules and tables of the last call: most calls follow one with the same rules. */
let lastRules: NativeRules | undefined
let lastTables: Tables | undefined

/** Returns the functions of a token. Those of the variant come before those of every token. */
export function tokenFunctions(rules: NativeRules, variant: TokenVariant): FunctionTable<TokenFrame> {
  if (rules !== lastRules || lastTables === undefined) {
    lastTables = tablesOf(rules)
    lastRules = rules
  }
  return lastTables[variant]
}

function tablesOf(rules: NativeRules): Tables {
  let known = tables.get(rules)
  if (!known) {
    const common = commonFunctions(rules)
    known = {
      asset: new FunctionTable(rules, 'IB20AssetCalls', 0, [...assetFunctions(rules), ...common]),
      stablecoin: new FunctionTable(rules, 'IB20StablecoinCalls', 0, [...stablecoinFunctions, ...common]),
    }
    tables.set(rules, known)
  }
  return known
}

/** Runs a call of a token. A token that does not exist reverts without data. */
export function runToken(host: NativeHost, rules: NativeRules, variant: TokenVariant): Uint8Array {
  if (host.codeKind(host.selfAddress) === 'none') throw silentRevert()
  return tokenFunctions(rules, variant).call(frameOf(host, rules, variant), host)
}

/** Returns the frame of a call, and reuses that of the last call when it was of the same token. */
function frameOf(host: NativeHost, rules: NativeRules, variant: TokenVariant): TokenFrame {
  const { kept } = host
  if (kept instanceof TokenFrame && kept.account === host.self && kept.rules === rules) return kept
  const frame = new TokenFrame(host, rules, variant, host.selfAddress, host.self, host.caller, false)
  host.kept = frame
  return frame
}
