import { expect } from 'vitest'
import type { Execution } from '#blockchain/execution'
import { baseTimeAddress } from '#chainspec/addresses'
import { encodeBaseTimeDeposit } from '#chainspec/baseTime'
import { firstDenimBlock, millisPartOf, timestampOf } from '#chainspec/blockTime'
import type { Genesis } from '#chainspec/genesis'
import { l2RefOf } from '#chainspec/l2Ref'
import { networkOf } from '#chainspec/networks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { createEthContext } from '#node/serving/ethContext'
import { createHeadFeed } from '#node/serving/headFeed'
import type { EthContext } from '#rpc/context'
import { openExecution } from '#test/contract/engine'
import { attributesAt, chainStart, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import type { Payload } from '#types/payload'

export type DenimChain = {
  readonly config: RollupConfig
  readonly execution: Execution
  /** of the node's own composition */
  readonly eth: Omit<EthContext, 'cancellation'>
  /** Builds the block after a parent, the unsafe head by default, at its scheduled time, and makes it the unsafe head. */
  grow(transactions?: readonly Uint8Array[], parent?: Payload): Promise<Payload>
}

/**
 * Opens a chain whose first two blocks have Cobalt's rules and 2 s, and whose later blocks are Denim's, from 2 s later on.
 * @param accounts in addition to BaseTime's proxy of Base Sepolia
 */
export function openDenimChain(accounts: Genesis['accounts'] = []): DenimChain {
  const schedule = scheduleTo('azul', { beryl: 0, cobalt: 0, denim: chainStart + 6 })
  const proxy = networkOf('base-sepolia')
    .genesis()
    .accounts.filter(({ address }) => address === baseTimeAddress)
  const chain = smallChain(schedule, [...proxy, ...accounts])
  const config = {
    ...chain.config,
    blockTimeSec: 2,
    genesis: { ...chain.config.genesis, l2TimeSec: chainStart },
  } as unknown as RollupConfig
  const execution = openExecution(chain)
  const heads = createHeadFeed(() => execution.view())
  heads.publish(execution.published)
  const eth = createEthContext({
    ...{ execution, config, clock: createManualClock(), heads, version: '0.0.0', sync: () => undefined },
  })
  return {
    config,
    execution,
    eth,
    async grow(transactions = [], parent): Promise<Payload> {
      const on = parent ? l2RefOf(config, parent) : execution.published.heads.unsafe
      const number = on.number + 1
      const attributes = attributesAt(schedule, number)
      const deposits = number < firstDenimBlock(config) ? [] : [encodeBaseTimeDeposit(number, millisPartOf(config, number))]
      const built = await execution.build(on, {
        ...attributes,
        timestamp: timestampOf(config, number),
        transactions: [...attributes.transactions, ...deposits, ...transactions],
      })
      if (built.kind !== 'built') expect.fail(built.reason)
      await execution.setHeads({ ...execution.published.heads, unsafe: l2RefOf(config, built.payload) })
      heads.publish(execution.published)
      return built.payload
    },
  }
}
