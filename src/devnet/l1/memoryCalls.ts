import { floorGas, intrinsicGas } from '#block/validation/intrinsicGas'
import type { Outcome } from '#evm/ports'
import type { Address } from '#types/ids'
import type { AccessList } from '#types/transaction'
import { envOf, memoryRules } from './memoryBlock.ts'
import type { MemoryChain } from './memoryChain.ts'

/** Message executed on the state after a block, without changing it. Its gas price is zero. */
export type TriedCall = {
  readonly from: Address
  readonly to: Address | null
  readonly value: bigint
  readonly data: Uint8Array
  readonly gas?: bigint
  readonly accessList?: AccessList
}

/** 'unpaid': the sender lacks the value */
export type Tried = { readonly kind: 'ran'; readonly outcome: Outcome; readonly gasUsed: bigint } | { readonly kind: 'unpaid' }

function run(chain: MemoryChain, number: number, call: TriedCall, gasLimit: bigint): Tried {
  const block = chain.block(number) ?? chain.head
  using session = chain.evm.open(chain.view(number), envOf(chain.options.chainId, block.header), memoryRules)
  const { from, to, value, data, accessList = [] } = call
  if ((session.account(from)?.balance ?? 0n) < value) return { kind: 'unpaid' }
  const intrinsic = intrinsicGas(memoryRules, { to, data, gasLimit, accessList })
  session.beginTransaction({ origin: from, gasPrice: 0n, blobHashes: [], warm: accessList })
  const outcome: Outcome =
    gasLimit < intrinsic
      ? { kind: 'halt', reason: 'out of gas', gasLeft: 0n, gasRefund: 0n, output: new Uint8Array() }
      : session.run({ caller: from, to, value, data, gas: gasLimit - intrinsic })
  return { kind: 'ran', outcome, gasUsed: gasLimit - outcome.gasLeft }
}

/** Returns the gas limit of a call: the requested one, at most that of a block. */
function limitOf(chain: MemoryChain, { gas }: TriedCall): bigint {
  const cap = chain.head.header.gasLimit
  return gas !== undefined && gas < cap ? gas : cap
}

/** Executes eth_call. @param number of the block whose state is used */
export const tryCall = (chain: MemoryChain, number: number, call: TriedCall): Tried => run(chain, number, call, limitOf(chain, call))

/**
 * Returns the lowest gas limit with which the message succeeds.
 * @returns its outcome with its gas limit when it does not succeed
 */
export function leastGas(chain: MemoryChain, number: number, call: TriedCall): bigint | Tried {
  const most = tryCall(chain, number, call)
  if (most.kind === 'unpaid' || most.outcome.kind !== 'success') return most
  const succeeds = (gas: bigint): boolean => {
    const tried = run(chain, number, call, gas)
    return tried.kind === 'ran' && tried.outcome.kind === 'success'
  }
  const { to, data, accessList = [] } = call
  const floor = floorGas(memoryRules, { to, data, gasLimit: 0n, accessList })
  const limit = limitOf(chain, call)
  let enough = most.gasUsed + 1n
  while (enough < limit && !succeeds(enough)) enough += enough / 4n
  // the message succeeds with the limit, but not always with more
  if (enough > limit) enough = limit
  let little = most.gasUsed - 1n
  if (succeeds(most.gasUsed)) enough = most.gasUsed
  while (enough - little > 1n) {
    const middle = (enough + little) / 2n
    if (succeeds(middle)) enough = middle
    else little = middle
  }
  return enough > floor ? enough : floor
}
