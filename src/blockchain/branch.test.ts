import { describe, expect, it } from 'vitest'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import { scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { buildChain, builtGenesis } from '#test/harness/chain/executedBlocks'
import type { BlockId } from '#types/blockRef'
import { BlockTree, sizeOfBlock } from './blockTree.ts'
import { branchTo, headsRefusal, isOnBranch, type KnownBlocks, tipOf } from './branch.ts'

const chain = smallChain(scheduleTo('ecotone'))
const genesis = builtGenesis(chain)
const main = buildChain(chain.config, genesis, [[], [], [], []]).map(({ block }) => block)
const [first, second, third, fourth] = main as [ExecutedBlock, ExecutedBlock, ExecutedBlock, ExecutedBlock]
const side = buildChain(chain.config, genesis, [[], []], 1).map(({ block }) => block) as [ExecutedBlock, ExecutedBlock]
const idOf = ({ hash, header }: ExecutedBlock): BlockId => ({ hash, number: header.number })

/** Genesis and the first two blocks are committed; the others are in memory. */
const committed = [genesis.block, first, second].map(idOf)
const known: KnownBlocks = {
  committed: (hash) => committed.find((id) => id.hash === hash),
  executed: (hash) => [...main, ...side].find((block) => block.hash === hash),
}
const branch = (tip: ExecutedBlock) => branchTo(known, tip.hash) ?? { ancestor: idOf(genesis.block), blocks: [] }

describe('blockchain/branch', () => {
  it('returns the branch down to its youngest committed ancestor', () => {
    expect(branchTo(known, fourth.hash)).toEqual({ ancestor: idOf(second), blocks: [third, fourth] })
    expect(branchTo(known, side[1].hash)).toEqual({ ancestor: idOf(genesis.block), blocks: side })
    expect(branchTo(known, second.hash)).toEqual({ ancestor: idOf(second), blocks: [] })
    expect(tipOf(branch(fourth))).toEqual(idOf(fourth))
    expect(tipOf(branch(second))).toEqual(idOf(second))
  })

  it('shares a trunk up to the block where a branch leaves it', () => {
    const trunk = { ancestor: idOf(genesis.block), blocks: Object.freeze([first, second, third]) }
    const inMemory: KnownBlocks = { ...known, committed: (hash) => (hash === genesis.block.hash ? idOf(genesis.block) : undefined) }
    const branchFrom = (tip: ExecutedBlock) => branchTo(inMemory, tip.hash, trunk)
    expect(branchFrom(third)).toBe(trunk)
    expect(branchFrom(second)).toEqual({ ancestor: trunk.ancestor, blocks: [first, second] })
    expect(branchFrom(fourth)).toEqual({ ancestor: trunk.ancestor, blocks: main })
    expect(branchFrom(side[1])).toEqual({ ancestor: trunk.ancestor, blocks: side })
  })

  it('returns no branch for an unknown block, or for one without a known ancestor', () => {
    expect(branchTo({ ...known, executed: () => undefined }, fourth.hash)).toBeUndefined()
    expect(branchTo({ ...known, executed: (hash) => (hash === fourth.hash ? fourth : undefined) }, fourth.hash)).toBeUndefined()
  })

  it.each([
    ['its own block', third, true],
    ['a committed ancestor', first, true],
    ['a block above its tip', fourth, false],
    ['a sibling', side[0], false],
  ])('isOnBranch returns for %s: %s', (_case, block, expected) => {
    expect(isOnBranch(known, branch(third), idOf(block))).toBe(expected)
  })

  it('leaves a committed block above the ancestor out of a side branch', () => {
    expect(isOnBranch(known, branch(side[1]), idOf(first))).toBe(false)
  })

  const heads = (unsafe: ExecutedBlock, safe: ExecutedBlock, finalized: ExecutedBlock) => ({
    unsafe: idOf(unsafe),
    safe: idOf(safe),
    finalized: idOf(finalized),
  })
  it.each([
    ['in order', heads(fourth, third, first), undefined],
    ['all equal', heads(fourth, fourth, fourth), undefined],
    ['back to a committed block', heads(first, first, genesis.block), undefined],
    ['safe above unsafe', heads(third, fourth, first), 'safe'],
    ['safe on another branch', heads(fourth, side[0], genesis.block), 'safe'],
    ['finalized on another branch', heads(fourth, third, side[0]), 'finalized'],
    ['finalized above safe', heads(fourth, first, third), 'finalized'],
    ['a number other than that of the block', { ...heads(fourth, first, first), unsafe: { hash: fourth.hash, number: 9 } }, 'unsafe'],
  ])('headsRefusal names for heads %s: %s', (_case, asked, label) => {
    expect(headsRefusal(known, branch(known.executed(asked.unsafe.hash) ?? fourth), asked)?.label).toBe(label)
  })
})

describe('blockchain/blockTree', () => {
  it('drops the blocks added longest ago, and keeps the newest whatever its size', () => {
    const tree = new BlockTree(sizeOfBlock(first) + sizeOfBlock(second))
    for (const block of [first, second]) tree.add(block)
    expect(tree.get(first.hash)).toBe(first)
    tree.add(third)
    expect([first, second, third].map(({ hash }) => tree.get(hash))).toEqual([undefined, second, third])
    const tiny = new BlockTree(1)
    tiny.add(first)
    expect(tiny.get(first.hash)).toBe(first)
    tiny.add(second)
    expect([tiny.get(first.hash), tiny.get(second.hash)]).toEqual([undefined, second])
  })

  it('has the size of its blocks, also when one is added again or dropped', () => {
    const tree = new BlockTree(10 ** 9)
    for (const block of [first, second, first, side[0]]) tree.add(block)
    expect(tree.sizeBytes).toBe(sizeOfBlock(first) + sizeOfBlock(second) + sizeOfBlock(side[0]))
    tree.dropUpTo(1)
    expect(tree.sizeBytes).toBe(sizeOfBlock(second))
  })

  it('counts all parts of a block in its size', () => {
    const [small, large] = buildChain(chain.config, genesis, [
      [],
      [signedBy('alice', { data: new Uint8Array(10_000), gasLimit: 100_000n })],
    ])
    expect(sizeOfBlock((large ?? genesis).block) - sizeOfBlock((small ?? genesis).block)).toBeGreaterThan(10_000)
  })
})
