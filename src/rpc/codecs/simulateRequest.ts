import type { SimulatedBlockRequest, SimulationRequest } from '../callPorts.ts'
import { RpcError, unsupported } from '../errors.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import type { ParamCodec } from '../registry.ts'
import { blockOverrides } from './blockOverride.ts'
import { callRequest } from './callRequest.ts'
import { member, objectOf } from './members.ts'
import { within } from './paramError.ts'
import { stateOverrides } from './stateOverride.ts'
import { flag, listOf, wrongType } from './values.ts'

const maxBlocks = 256
/** Calls per block: the gas of a call pays for no more. */
const maxCalls = 2_500

/** Simulation request and the requested form of its answer. */
export type SimulateParam = { readonly request: SimulationRequest; readonly fullTransactions: boolean }

/** Error for too many simulated blocks. @see execution-apis, eth_simulateV1 */
const tooManyBlocks = (): RpcError => new RpcError(-38026, 'too many blocks')

/** Block overrides that are not supported. */
const unsupportedOverrides = ['withdrawals', 'beaconRoot']

/** Returns block overrides without those that are not supported. @throws RpcError when one of these is set */
function supportedOverrides(overrides: unknown): unknown {
  if (!isJsonObject(overrides)) return overrides
  const isSet = (value: unknown): boolean => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
  const extra = unsupportedOverrides.find((key) => isSet(overrides[key]))
  if (extra !== undefined) throw unsupported(`the override ${extra} of a simulated block`)
  return Object.fromEntries(Object.entries(overrides).filter(([key]) => !unsupportedOverrides.includes(key)))
}

const block: ParamCodec<SimulatedBlockRequest> = {
  doc: '{blockOverrides, stateOverrides, calls}',
  parse(value): SimulatedBlockRequest {
    const given = objectOf(value, 'a block to simulate')
    const overrides = supportedOverrides(given['blockOverrides'])
    return {
      block: member({ blockOverrides: overrides }, 'blockOverrides', blockOverrides) ?? {},
      state: member(given, 'stateOverrides', stateOverrides),
      calls: member(given, 'calls', listOf(callRequest, maxCalls)) ?? [],
    }
  },
}

function parseBlocks({ blockStateCalls: blocks }: JsonObject): readonly SimulatedBlockRequest[] {
  if (!Array.isArray(blocks)) throw wrongType(blocks, 'a sequence')
  if (blocks.length > maxBlocks) throw tooManyBlocks()
  return blocks.map((each: unknown, index) => within(index, () => block.parse(each)))
}

export const simulateRequest: ParamCodec<SimulateParam> = {
  doc: `{blockStateCalls: [{blockOverrides, stateOverrides, calls}], traceTransfers, validation, returnFullTransactions}, at most ${maxBlocks} blocks, ${maxCalls} calls in each`,
  schema: {
    title: 'blocks to simulate',
    type: 'object',
    required: ['blockStateCalls'],
    properties: { blockStateCalls: { type: 'array', maxItems: maxBlocks, items: { type: 'object' } } },
  },
  parse(value): SimulateParam {
    const given = objectOf(value, 'a simulation request object')
    return {
      request: {
        blocks: within('blockStateCalls', () => parseBlocks(given)),
        traceTransfers: member(given, 'traceTransfers', flag) ?? false,
        validation: member(given, 'validation', flag) ?? false,
      },
      fullTransactions: member(given, 'returnFullTransactions', flag) ?? false,
    }
  },
}
