import { expect, it } from 'vitest'
import { blockEnvOf } from '#block/execution/blockEnv'
import { createExecution, type Execution } from '#blockchain/execution'
import type { ExecutionView } from '#blockchain/view/chainView'
import { l2RefOf } from '#chainspec/l2Ref'
import { evmRulesAt } from '#chainspec/opRules'
import { createWasmEvm } from '#evm/wasmEvm'
import { concatBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { accountOf, attributesAt, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { contracts, noter, people, randomTransactions, reader, setter, slots, word } from '#test/harness/chain/randomTransactions'
import { createManualClock } from '#test/harness/clock'
import { dice } from '#test/harness/dice'
import { flashblocksOf } from '#test/harness/flashblocks/flashblocks'
import { takeNext } from '#test/harness/flashblocks/takeNext'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { BlockId } from '#types/blockRef'
import { hashFromBytes } from '#types/ids'
import type { Payload } from '#types/payload'
import { maxPendingBlocks } from './pendingPort.ts'

const schedule = scheduleTo('jovian')
const { genesis, config } = smallChain(
  schedule,
  contracts.map(({ account }) => account),
)
const evm = createWasmEvm()
const open = (): Execution =>
  createExecution({ kv: createMemoryKv(), evm, config, genesis: () => genesis, clock: createManualClock(), log: silentLog })

/** Reads all of a state. */
function stateOf(view: ExecutionView, id: BlockId) {
  const state = view.state(id) ?? expect.fail('no state')
  const addresses = [...people, ...contracts.map(({ address }) => address)]
  const numbered = [...slots, 1_000].map((slot) => hashFromBytes(word(slot)))
  return {
    accounts: addresses.map((address) => ({ ...state.account(address) })),
    slots: contracts.map(({ address }) => numbered.map((slot) => state.slot(address, slot))),
    noted: Array.from({ length: 64 }, (_, number) => state.slot(noter.address, hashFromBytes(word(number)))),
  }
}

/** Runs messages in the environment of the block; their gas depends on the slots. */
function messagesAt(view: ExecutionView, id: BlockId): string[] {
  const { header, state } = view.parent(id.hash) ?? expect.fail('no state')
  const caller = accountOf('alice')
  return [reader, setter].map(({ address: to }) => {
    using session = evm.open(state.view, blockEnvOf(config, header), evmRulesAt(schedule, header.timestamp))
    session.beginTransaction({ origin: caller, gasPrice: 0n, blobHashes: [], warm: [] })
    const outcome = session.run({ caller, to, value: 0n, data: concatBytes(word(1), word(2)), gas: 1_000_000n })
    return `${outcome.kind} ${outcome.gasLeft} ${toHex(outcome.output)}`
  })
}

it('pending/pendingPrefixes: has after each flashblock the state of the same transactions executed from scratch', async () => {
  const roll = dice(1)
  const pool = randomTransactions(roll)
  const [scratch, follower] = [open(), open()]
  const made: Payload[] = []
  let sealed = 0
  const seal = async (payload: Payload): Promise<void> => {
    expect(await follower.insert(payload)).toEqual({ kind: 'valid' })
    await follower.setHeads({ ...(await follower.heads()), unsafe: l2RefOf(config, payload) })
    sealed++
  }
  const idOf = ({ blockNumber: number, blockHash: hash }: Payload): BlockId => ({ number, hash })
  for (let number = 1; number <= 6; number++) {
    const parent = made.at(-1)
    const on = parent ? idOf(parent) : config.genesis.l2
    const taken = Array.from({ length: roll(10) }, () => pool.next().value)
    const build = async (count: number): Promise<Payload> => {
      const built = await scratch.build(on, attributesAt(schedule, number, taken.slice(0, count)))
      return built.kind === 'built' ? built.payload : expect.fail(built.reason)
    }
    const whole = await build(taken.length)
    const cuts = [1, 1 + roll(taken.length + 1), 1 + roll(taken.length + 1)].sort((a, b) => a - b)
    for (const [i, flashblock] of flashblocksOf(scratch, whole, cuts).entries()) {
      expect(await takeNext(follower, flashblock)).toMatchObject({ kind: 'taken' })
      const prefix = idOf(await build((cuts[i] ?? taken.length + 1) - 1))
      using view = follower.view()
      using judge = scratch.view()
      const id = view.heads.pending ?? expect.fail('there is no pending block')
      expect(stateOf(view, id)).toEqual(stateOf(judge, prefix))
      expect(messagesAt(view, id)).toEqual(messagesAt(judge, prefix))
      expect(view.receipts(id.hash)?.map(({ receipt }) => receipt)).toEqual(judge.receipts(prefix.hash)?.map(({ receipt }) => receipt))
    }
    made.push(whole)
    while (sealed < made.length && (made.length - sealed === maxPendingBlocks || roll(2) === 0)) await seal(made[sealed] as Payload)
  }
  while (sealed < made.length) await seal(made[sealed] as Payload)
  expect(follower.sizes().reused).toBe(made.length)
})
