import type { NewPayloadVersion } from '#engine/versions'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { hash } from '../../codecs/values.ts'
import type { EngineContext } from '../../context.ts'
import { type Method, param } from '../../registry.ts'
import { blobHashes, builtPayload, executionRequests, payload, payloadId, payloadStatus } from './engineCodecs.ts'
import { engineMethod } from './engineMethod.ts'

const cost = 'engine'
const example = { params: [] }
const payloadParam = param('executionPayload', payload)
const blobParam = param('expectedBlobVersionedHashes', blobHashes)
const rootParam = param('parentBeaconBlockRoot', hash)
const requestsParam = param('executionRequests', executionRequests)

const withRoot = (of: Payload, parentBeaconBlockRoot: Hash): Payload => ({ ...of, parentBeaconBlockRoot })

const early = (version: 1 | 2, forks: string): Method<EngineContext> =>
  engineMethod({
    name: `engine_newPayloadV${version}`,
    doc: `Executes a payload on its parent. ${forks}.`,
    params: [payloadParam],
    result: payloadStatus,
    cost,
    example,
    run: ({ engine }, of) => engine.newPayload(version, { payload: of }),
  })

const newPayloadV3 = engineMethod({
  name: 'engine_newPayloadV3',
  doc: 'Executes a payload on its parent. For blocks from Ecotone to before Isthmus.',
  params: [payloadParam, blobParam, rootParam],
  result: payloadStatus,
  cost,
  example,
  run: ({ engine }, of, hashes, root) => engine.newPayload(3, { payload: withRoot(of, root), blobHashes: hashes }),
})

const late = (version: NewPayloadVersion, forks: string): Method<EngineContext> =>
  engineMethod({
    name: `engine_newPayloadV${version}`,
    doc: `Executes a payload on its parent. ${forks}.`,
    params: [payloadParam, blobParam, rootParam, requestsParam],
    result: payloadStatus,
    cost,
    example,
    run: ({ engine }, of, hashes, root, requests) =>
      engine.newPayload(version, { payload: withRoot(of, root), blobHashes: hashes, executionRequests: requests }),
  })

const get = (version: 1 | 2 | 3 | 4 | 5, forks: string): Method<EngineContext> =>
  engineMethod({
    name: `engine_getPayloadV${version}`,
    doc: `Payload of a build that engine_forkchoiceUpdated started. For blocks ${forks}.`,
    params: [param('payloadId', payloadId)],
    result: builtPayload[version === 5 ? 4 : version],
    cost,
    example,
    run: ({ engine }, id) => engine.getPayload(version, id),
  })

export const payloadMethods: readonly Method<EngineContext>[] = [
  early(1, 'For blocks before Canyon'),
  early(2, 'For blocks before Ecotone'),
  newPayloadV3,
  late(4, 'For blocks from Isthmus on'),
  late(5, 'No fork of this chain uses this version: always answers -38005'),
  get(1, 'before Canyon'),
  get(2, 'before Ecotone'),
  get(3, 'from Ecotone to before Isthmus'),
  get(4, 'from Isthmus to before Azul'),
  get(5, 'from Azul on'),
]
