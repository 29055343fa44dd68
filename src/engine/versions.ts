import { type Fork, type ForkSchedule, isActive } from '#chainspec/forks'
import type { Payload, PayloadAttributes } from '#types/payload'

export type NewPayloadVersion = 1 | 2 | 3 | 4 | 5
export type ForkchoiceVersion = 1 | 2 | 3
export type GetPayloadVersion = 1 | 2 | 3 | 4 | 5

/** Forks that changed payloads of the Engine API, with the version of the payload that they introduced. */
const payloadForks: readonly (readonly [GetPayloadVersion, Fork])[] = [
  [5, 'azul'],
  [4, 'isthmus'],
  [3, 'ecotone'],
  [2, 'canyon'],
]

/** Returns the version of the payload of a block of this time (seconds): that of its `engine_getPayload`, where V2 also returns version 1. */
function payloadVersionAt(schedule: ForkSchedule, timestamp: number): GetPayloadVersion {
  return payloadForks.find(([, fork]) => isActive(schedule, fork, timestamp))?.[0] ?? 1
}

/** Payload versions that each version of a method accepts or returns. Azul introduced getPayloadV5 and no other method. */
const newPayloadTakes: Readonly<Record<NewPayloadVersion, readonly GetPayloadVersion[]>> = { 1: [1], 2: [1, 2], 3: [3], 4: [4, 5], 5: [] }
const getPayloadGives: Readonly<Record<GetPayloadVersion, readonly GetPayloadVersion[]>> = { 1: [1], 2: [1, 2], 3: [3], 4: [4], 5: [5] }
const forkchoiceTakes: Readonly<Record<ForkchoiceVersion, readonly GetPayloadVersion[]>> = { 1: [1], 2: [1, 2], 3: [3, 4, 5] }

/** Returns the newest version of each method for a block of this time (seconds). */
export function methodVersionsAt(
  schedule: ForkSchedule,
  timestamp: number,
): { readonly newPayload: NewPayloadVersion; readonly forkchoiceUpdated: ForkchoiceVersion; readonly getPayload: GetPayloadVersion } {
  const version = payloadVersionAt(schedule, timestamp)
  return {
    newPayload: version === 5 ? 4 : version === 1 ? 2 : version,
    forkchoiceUpdated: version > 3 ? 3 : (version as ForkchoiceVersion),
    getPayload: version === 1 ? 2 : version,
  }
}

const named = (name: string, versions: readonly number[]): readonly string[] => versions.map((version) => `${name}V${version}`)

/**
 * Returns the methods that the blocks of a chain require, from its first to its last planned fork: a chain without Azul needs no getPayloadV5. V1 of
 * newPayload and getPayload are never used: V2 accepts their payloads, and some clients lack V1.
 */
export function usedMethods(schedule: ForkSchedule): readonly string[] {
  return [
    ...named('engine_newPayload', [2, 3, 4]),
    ...named('engine_forkchoiceUpdated', [1, 2, 3]),
    ...named('engine_getPayload', schedule.azul === undefined ? [2, 3, 4] : [2, 3, 4, 5]),
  ]
}

export type VersionRefusal = { readonly kind: 'unsupported-fork' | 'structure'; readonly reason: string }

const wrongFork = (method: string, version: number, timestamp: number): VersionRefusal => ({
  kind: 'unsupported-fork',
  reason: `${method}V${version} does not support a block of time ${timestamp}`,
})

/** Returns the first field that is present but not allowed, or missing but required. */
function structureRefusal(fields: readonly (readonly [string, unknown, boolean])[]): VersionRefusal | undefined {
  for (const [name, value, isExpected] of fields) {
    if ((value !== undefined) === isExpected) continue
    return { kind: 'structure', reason: `${name} is ${isExpected ? 'missing' : 'not allowed at this time'}` }
  }
  return undefined
}

/**
 * Returns the reason why a payload does not fit the version of `engine_newPayload`, or undefined.
 * @see execution-apis, engine/{shanghai,cancun,prague}.md; specs protocol/exec-engine.md, "Engine API"
 */
export function newPayloadRefusal(schedule: ForkSchedule, version: NewPayloadVersion, payload: Payload): VersionRefusal | undefined {
  const shape = payloadVersionAt(schedule, payload.timestamp)
  if (!newPayloadTakes[version].includes(shape)) return wrongFork('engine_newPayload', version, payload.timestamp)
  return structureRefusal([
    ['withdrawals', payload.withdrawals, shape >= 2],
    ['blobGasUsed', payload.blobGasUsed, shape >= 3],
    ['excessBlobGas', payload.excessBlobGas, shape >= 3],
    ['parentBeaconBlockRoot', payload.parentBeaconBlockRoot, shape >= 3],
    ['withdrawalsRoot', payload.withdrawalsRoot, shape >= 4],
  ])
}

/** Returns the reason why attributes do not fit the version of `engine_forkchoiceUpdated`, or undefined. */
export function attributesRefusal(
  schedule: ForkSchedule,
  version: ForkchoiceVersion,
  attributes: PayloadAttributes,
): VersionRefusal | undefined {
  const { timestamp } = attributes
  const shape = payloadVersionAt(schedule, timestamp)
  if (!forkchoiceTakes[version].includes(shape)) return wrongFork('engine_forkchoiceUpdated', version, timestamp)
  return structureRefusal([
    ['withdrawals', attributes.withdrawals, shape >= 2],
    ['parentBeaconBlockRoot', attributes.parentBeaconBlockRoot, shape >= 3],
    ['eip1559Params', attributes.eip1559Params, isActive(schedule, 'holocene', timestamp)],
    ['minBaseFee', attributes.minBaseFee, isActive(schedule, 'jovian', timestamp)],
  ])
}

/** Returns the reason why a version of `engine_getPayload` does not return a payload, or undefined. */
export function getPayloadRefusal(schedule: ForkSchedule, version: GetPayloadVersion, timestamp: number): VersionRefusal | undefined {
  const isGiven = getPayloadGives[version].includes(payloadVersionAt(schedule, timestamp))
  return isGiven ? undefined : wrongFork('engine_getPayload', version, timestamp)
}
