import type { EngineContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { engineGetBlockByHash } from './blockByHash.ts'
import { bodyMethods } from './bodies.ts'
import { forkchoiceMethods } from './forkchoice.ts'
import { identityMethods } from './identity.ts'
import { payloadMethods } from './payloads.ts'

/** `engine_*`: the Engine API, for a consensus half that holds the JWT secret. */
export const engineMethods: readonly Method<EngineContext>[] = [
  ...[...payloadMethods, ...forkchoiceMethods, ...bodyMethods, ...identityMethods],
  engineGetBlockByHash,
]
