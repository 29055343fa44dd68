import { createSenders } from '#block/execution/senders'
import type { ExecutionView } from '#blockchain/view/chainView'
import type { Evm } from '#evm/ports'
import type { TracedEvm } from '#evm/wasmEvm'
import type { RunTimer } from '#rpc/callPorts'
import type { BlockTracing, TraceOutcome, TraceRequest } from '#rpc/tracePorts'
import { runTraced } from '#simulation/trace/tracedRun'
import type { ChainBlock } from '#types/chainView'
import type { Hash } from '#types/ids'
import { decodeTransaction, depositType, hashTransaction } from '#types/transaction'
import { EthereumBlockRun } from './executeBlock.ts'
import type { EthereumChainSpec } from './genesis.ts'

export type EthereumTracingDeps = {
  readonly spec: EthereumChainSpec
  readonly traced: TracedEvm
  readonly view: () => ExecutionView
}

/** Traces the transactions of one block of Ethereum. Each trace runs the block from its start. */
class EthereumTracing implements BlockTracing {
  readonly #deps: EthereumTracingDeps
  readonly #found: ChainBlock
  readonly hashes: readonly Hash[]

  constructor(deps: EthereumTracingDeps, found: ChainBlock) {
    this.#deps = deps
    this.#found = found
    this.hashes = found.block.transactions.map(hashTransaction)
  }

  prepare(): true {
    return true
  }

  trace(index: number, request: TraceRequest, timer: RunTimer): TraceOutcome | 'pruned' {
    const { block, senders, hash: blockHash } = this.#found
    const { header, transactions } = block
    const transaction = decodeTransaction(transactions[index] ?? new Uint8Array(0))
    if (transaction.type === depositType) throw new RangeError('a deposit in a block of Ethereum')
    const { to, value, data, gasLimit } = transaction
    const from = senders[index]
    using view = this.#deps.view()
    const parent = view.parent(header.parentHash)
    if (parent === undefined || from === undefined) return 'pruned'
    const place = { blockHash, blockNumber: header.number, hash: this.hashes[index] ?? blockHash, index }
    return runTraced({ traced: this.#deps.traced }, request, timer, {
      facts: { from, to, value, data, gas: Number(gasLimit), ...place },
      before: parent.state.view,
      run: (evm: Evm, listen) => {
        using run = new EthereumBlockRun({ evm, spec: this.#deps.spec, senders: createSenders({ maxBytes: 0 }) }, parent, block)
        for (const raw of transactions.slice(0, index)) run.take(raw)
        listen()
        const refusal = run.take(transactions[index] ?? new Uint8Array(0))
        if (refusal !== undefined) return { refused: { kind: 'refused', reason: refusal } }
        const executed = run.executed.at(-1)
        return { gasUsed: Number(executed?.gasUsed), succeeded: executed?.receipt.succeeded ?? false }
      },
    })
  }

  storage(): 'pruned' {
    return 'pruned'
  }
}

/** Returns the tracing of a known block of Ethereum; undefined for an unknown one. */
export function ethereumBlockTracing(deps: EthereumTracingDeps, hash: Hash): BlockTracing | undefined {
  using view = deps.view()
  const found = view.block(hash)
  return found && new EthereumTracing(deps, found)
}
