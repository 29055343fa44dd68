import { EngineApiError } from '#engine/engineApiError'
import type { EngineContext } from '../../context.ts'
import { RpcError } from '../../errors.ts'
import { type Method, type MethodSpec, methodsOf, type Param } from '../../registry.ts'

const define = methodsOf<EngineContext>()

/** Defines a method of the Engine API, whose errors keep their codes. */
export function engineMethod<const P extends readonly Param<unknown>[], R>(spec: MethodSpec<EngineContext, P, R>): Method<EngineContext> {
  const run: typeof spec.run = async (context, ...params) => {
    try {
      return await spec.run(context, ...params)
    } catch (error) {
      throw error instanceof EngineApiError ? new RpcError(error.code, error.message) : error
    }
  }
  return define<P, R>({ ...spec, run })
}
