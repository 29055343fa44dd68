import type { AdminContext, EthContext, OperatorContext, RollupContext, SocketContext } from '../context.ts'
import { methodsOf } from '../registry.ts'

export const ethMethod: ReturnType<typeof methodsOf<EthContext>> = methodsOf<EthContext>()
export const rollupMethod: ReturnType<typeof methodsOf<RollupContext>> = methodsOf<RollupContext>()
export const socketMethod: ReturnType<typeof methodsOf<SocketContext>> = methodsOf<SocketContext>()
export const operatorMethod: ReturnType<typeof methodsOf<OperatorContext>> = methodsOf<OperatorContext>()
export const adminMethod: ReturnType<typeof methodsOf<AdminContext>> = methodsOf<AdminContext>()
