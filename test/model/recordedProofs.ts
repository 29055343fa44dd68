import { readCanonicalHash, readHead } from '#blockchain/chainStore'
import { recordedStates } from '#proofs/olderStates'
import { HistoryCache } from '#state/historyCache'
import { createWorldReads } from '#state/worldReads'
import type { ChainView } from '#types/chainView'
import { checkState } from './checks.ts'
import type { ModelRun } from './modelRun.ts'
import type { Roll } from './transactions.ts'

/** Compares recorded states with the model: accounts, codes, slots and proofs, at random blocks of the window. */
export function checkProofs(roll: Roll, run: ModelRun): void {
  using reader = run.node.chain.snapshot()
  using proofs = run.node.proofs.snapshot()
  const head = readHead(reader)
  const states = head && recordedStates(proofs, reader, head.number, new HistoryCache())
  if (!states?.window) return
  const { earliest, latest } = states.window
  for (let i = 0; i < 3; i++) {
    const number = earliest + roll(latest - earliest + 1)
    const hash = readCanonicalHash(reader, number)
    const canonical = run.chain.canonical[number]
    // the committed chain may be another one than that in memory
    const block = canonical?.ref.hash === hash ? canonical : hash && run.chain.find(hash)
    if (!block) continue
    const { stateRoot } = block.payload
    const state = createWorldReads(
      states.at(number, () => undefined),
      stateRoot,
    )
    const view = { oldestState: 0, oldestProof: 0, state: () => state, header: () => ({ stateRoot }) }
    checkState(roll, view as unknown as ChainView, block)
    run.counts.proved++
  }
}
