import { listOf, resultList, text } from '../../codecs/values.ts'
import type { EngineContext } from '../../context.ts'
import { object } from '../../reference/schemas.ts'
import { type Method, optionalParam, type ParamCodec, param } from '../../registry.ts'
import { engineMethod } from './engineMethod.ts'

const versions = (name: string, ...list: readonly number[]): readonly string[] => list.map((version) => `${name}V${version}`)

/** Methods that this node supports; other versions answer -38005. */
const offered: readonly string[] = [
  ...versions('engine_newPayload', 1, 2, 3, 4),
  ...versions('engine_forkchoiceUpdated', 1, 2, 3),
  ...versions('engine_getPayload', 1, 2, 3, 4, 5),
  ...['engine_getPayloadBodiesByHashV1', 'engine_getPayloadBodiesByRangeV1', 'engine_getClientVersionV1'],
]

const exchangeCapabilities = engineMethod({
  name: 'engine_exchangeCapabilities',
  doc: 'Engine API methods that this node supports.',
  params: [param('methods', listOf(text, 1_024))],
  result: { ...resultList(text), doc: 'list: names of methods' },
  cost: 'instant',
  example: { params: [[]] },
  run: () => offered,
})

const word = { type: 'string' }
const versionSchema = object('client', { code: word, name: word, version: word, commit: word })

/** Ignored: the answer does not depend on the caller. */
const clientVersion: ParamCodec<unknown> = {
  doc: 'code, name, version and commit of the caller',
  schema: { type: 'object' },
  parse: (value) => value,
}

type ClientVersion = { readonly code: string; readonly name: string; readonly version: string; readonly commit: string }

const getClientVersionV1 = engineMethod({
  name: 'engine_getClientVersionV1',
  doc: 'Code, name, version and commit of this node; the commit is unknown and all zeros.',
  params: [optionalParam('clientVersion', clientVersion, undefined, 'not given')],
  result: {
    doc: 'list of one: code, name, version, commit',
    schema: { type: 'array', items: versionSchema },
    encode: (one: ClientVersion) => [{ ...one }],
  },
  cost: 'instant',
  example: { params: [] },
  run({ clientVersion }): ClientVersion {
    const [name = 'basalt', version = 'unknown'] = clientVersion.split('/')
    return { code: 'BA', name, version, commit: '00000000' }
  },
})

export const identityMethods: readonly Method<EngineContext>[] = [exchangeCapabilities, getClientVersionV1]
