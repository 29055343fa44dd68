import type { ForkchoiceVersion } from '#engine/versions'
import type { EngineContext } from '../../context.ts'
import { type Method, optionalParam, param } from '../../registry.ts'
import { attributes, forkchoiceAnswer, forkchoiceState } from './engineCodecs.ts'
import { engineMethod } from './engineMethod.ts'

const update = (version: ForkchoiceVersion, forks: string): Method<EngineContext> =>
  engineMethod({
    name: `engine_forkchoiceUpdatedV${version}`,
    doc: `Moves the heads, and starts to build a payload when attributes are given. For blocks ${forks}.`,
    params: [param('forkchoiceState', forkchoiceState), optionalParam('payloadAttributes', attributes, undefined, 'none: no build')],
    result: forkchoiceAnswer,
    cost: 'engine',
    example: { params: [] },
    run: ({ engine }, state, json) => engine.forkchoiceUpdated(version, state, json),
  })

export const forkchoiceMethods: readonly Method<EngineContext>[] = [
  update(1, 'before Canyon'),
  update(2, 'before Ecotone'),
  update(3, 'from Ecotone on'),
]
