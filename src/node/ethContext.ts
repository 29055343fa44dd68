import type { RollupConfig } from '#chain/rollupConfig'
import type { Evm } from '#evm/ports'
import type { Execution } from '#execution/execution'
import type { EthContext } from '#rpc/context'
import { defaultEthLimits } from '#rpc/context'
import type { CallOutcome, SyncProgress } from '#rpc/ports'
import { runCall } from './executor.ts'

export type EthContextDeps = {
  readonly execution: Pick<Execution, 'view'>
  readonly evm: Evm
  readonly config: RollupConfig
  readonly clientVersion: string
  /** undefined: not syncing */
  readonly sync: () => SyncProgress | undefined
}

/** What the methods of the execution half get, but for the ticket of the call. */
export function createEthContext({ execution, evm, config, clientVersion, sync }: EthContextDeps): Omit<EthContext, 'ticket'> {
  return {
    chain: { view: () => execution.view(), sync },
    executor: {
      call(at, message): CallOutcome | undefined {
        using view = execution.view()
        const parent = view.parent(at.hash)
        return parent && runCall({ evm, config }, parent, message)
      },
    },
    chainId: config.l2ChainId,
    clientVersion,
    limits: defaultEthLimits,
  }
}
