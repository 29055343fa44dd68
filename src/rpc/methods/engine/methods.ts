import type { EngineContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { engineGetBlockByHash } from './blockByHash.ts'
import { getPayloadBodiesByHashV1, getPayloadBodiesByRangeV1 } from './bodies.ts'
import { forkchoiceUpdatedV1, forkchoiceUpdatedV2, forkchoiceUpdatedV3 } from './forkchoice.ts'
import { exchangeCapabilities, getClientVersionV1 } from './identity.ts'
import {
  getPayloadV1,
  getPayloadV2,
  getPayloadV3,
  getPayloadV4,
  getPayloadV5,
  newPayloadV1,
  newPayloadV2,
  newPayloadV3,
  newPayloadV4,
  newPayloadV5,
} from './payloads.ts'

/** `engine_*`: the Engine API, for a consensus half that holds the JWT secret. */
export const engineMethods: readonly Method<EngineContext>[] = [
  ...[newPayloadV1, newPayloadV2, newPayloadV3, newPayloadV4, newPayloadV5],
  ...[forkchoiceUpdatedV1, forkchoiceUpdatedV2, forkchoiceUpdatedV3],
  ...[getPayloadV1, getPayloadV2, getPayloadV3, getPayloadV4, getPayloadV5],
  ...[getPayloadBodiesByHashV1, getPayloadBodiesByRangeV1],
  ...[exchangeCapabilities, getClientVersionV1],
  engineGetBlockByHash,
]
