import { expect, it } from 'vitest'
import { bytesFromBigint } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { tables } from '#store/tables'
import { dice } from '#test/harness/dice'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { noNodes } from '#trie/ports'
import { emptyCodeHash, emptyRoot } from '#types/ids'
import type { StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import { latestState, writeGenesis, writeState } from './chainState.ts'
import { countNodes } from './nodeRow.ts'
import { accountNodesTable } from './rows.ts'
import { computeStateRoot } from './stateRoot.ts'

const [accounts, contracts, slots] = [400, 40, 200]
/** Two segments, with their indices. */
const blocks = 127
const below = dice(1)
const keyOf = (kind: number, n: number): Uint8Array => keccak256(Uint8Array.of(kind, n >> 8, n & 255))
const chosen = (count: number, of: number): number[] => [...new Set(Array.from({ length: count }, () => below(of)))]

const accountOf = (n: number, nonce: number): StateDiffParts['accounts'][number] => ({
  key: keyOf(0, n),
  change: { nonce: BigInt(nonce), balance: BigInt(below(2 ** 30)), codeHash: emptyCodeHash },
  wiped: false,
})
const slotOf = (contract: number, slot: number): StateDiffParts['slots'][number] => ({
  addressKey: keyOf(0, contract),
  slotKey: keyOf(1, slot),
  value: bytesFromBigint(BigInt(1 + below(2 ** 30)), 32),
})
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

it('state/nodeHistory: trie nodes of a block take at most 80 bytes for each changed node, with keys and indices', () => {
  const kv = createMemoryKv()
  const whole = createStateDiff({
    accounts: numbers(accounts).map((n) => accountOf(n, 1)),
    slots: numbers(contracts).flatMap((contract) => numbers(slots).map((slot) => slotOf(contract, slot))),
    codes: [],
  })
  let result = computeStateRoot(noNodes, emptyRoot, whole)
  kv.write((tx) => writeGenesis(tx, whole, result))
  for (let number = 1; number <= blocks; number++) {
    const touched = chosen(5, contracts)
    const diff = createStateDiff({
      accounts: chosen(30, accounts).map((n) => accountOf(n, number + 1)),
      slots: touched.flatMap((contract) => chosen(6, slots).map((slot) => slotOf(contract, slot))),
      codes: [],
    })
    kv.write((tx) => {
      const { nodes } = latestState(tx, () => undefined)
      result = computeStateRoot(nodes, result.root, diff)
      writeState(tx, number, diff, result)
    })
  }
  using reader = kv.snapshot()
  let [bytes, nodes] = [0, 0]
  for (const { key, value } of reader.range(tables.nodeHistory.id, {})) {
    bytes += key.length + value.length
    if (key[0] === 0) nodes += countNodes(value)
  }
  expect(nodes).toBeGreaterThan(50 * blocks)
  expect([...reader.keys(accountNodesTable, {})].length).toBeGreaterThan(100)
  expect(bytes / nodes).toBeLessThanOrEqual(80)
})
