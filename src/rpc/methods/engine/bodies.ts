import { hash, listOf, position } from '../../codecs/values.ts'
import type { EngineContext } from '../../context.ts'
import { type Method, param } from '../../registry.ts'
import { bodies } from './engineCodecs.ts'
import { engineMethod } from './engineMethod.ts'

/** Accepts longer lists than the Engine API allows, so that these get its own error. */
const hashes = listOf(hash, 100_000)

const getPayloadBodiesByHashV1 = engineMethod({
  name: 'engine_getPayloadBodiesByHashV1',
  doc: 'Bodies of blocks, canonical or not, in the requested order; at most 1024.',
  params: [param('hashes', hashes)],
  result: bodies,
  cost: 'range-read',
  example: { params: [[]], result: [] },
  run: ({ engine }, of) => engine.bodiesByHash(of),
})

const getPayloadBodiesByRangeV1 = engineMethod({
  name: 'engine_getPayloadBodiesByRangeV1',
  doc: 'Bodies of canonical blocks; at most 1024.',
  params: [param('start', position), param('count', position)],
  result: bodies,
  cost: 'range-read',
  example: { params: ['0xffffff', '0x1'], result: [] },
  run: ({ engine }, start, count) => engine.bodiesByRange(start, count),
})

export const bodyMethods: readonly Method<EngineContext>[] = [getPayloadBodiesByHashV1, getPayloadBodiesByRangeV1]
