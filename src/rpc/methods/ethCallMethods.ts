import type { EthContext } from '../context.ts'
import type { Method } from '../registry.ts'
import { call } from './eth/call.ts'
import { callMany } from './eth/callMany.ts'
import { createAccessList } from './eth/createAccessList.ts'
import { estimateGas } from './eth/estimateGas.ts'
import { simulateV1 } from './eth/simulateV1.ts'

/** `eth_*` that run code and change nothing. */
export const ethCallMethods: readonly Method<EthContext>[] = [call, callMany, createAccessList, estimateGas, simulateV1]
