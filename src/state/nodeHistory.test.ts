import { expect, it } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import { dice } from '#test/harness/dice'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { imagesAfter, NodeChanges, type NodeTail, nodeDigest } from './nodeHistory.ts'
import { accountNodesTable } from './rows.ts'

const head = 300
const nodes = 10

it('state/nodeHistory: finds the same images with and without an index of the blocks that no segment covers, near the head and far below', () => {
  const below = dice(1)
  const kv = createMemoryKv()
  const written = Array.from({ length: nodes }, (): { readonly number: number; readonly rlp: Uint8Array }[] => [])
  kv.write((tx) => {
    for (let number = 1; number <= head; number++) {
      const changes = new NodeChanges(number)
      for (const [node, images] of written.entries()) {
        if (below(4) !== 0) continue
        const rlp = new Uint8Array(1 + below(200)).fill(number)
        images.push({ number, rlp })
        changes.add(accountNodesTable, u64Bytes(node), rlp, undefined)
      }
      changes.writeTo(tx)
    }
  })
  using reader = kv.snapshot()
  let indexed = 0
  const plain: NodeTail = { row: (_number, read) => read(), stored: () => undefined, index: () => undefined }
  const indexing: NodeTail = {
    ...plain,
    stored: (_segment, read) => read(),
    index(_group, compute) {
      indexed++
      return compute()
    },
  }
  for (const [node, images] of written.entries()) {
    for (const number of [0, 1, 62, 63, 64, 70, 126, 190, 191, 192, 230, 260, 279, 280, 299, 300]) {
      const digest = nodeDigest(accountNodesTable, u64Bytes(node))
      const after = images.filter((image) => image.number > number).map(({ rlp }) => ({ kind: 'whole', rlp }))
      expect([...imagesAfter({ reader, tail: plain }, number, head, digest)]).toEqual(after)
      expect([...imagesAfter({ reader, tail: indexing }, number, head, digest)]).toEqual(after)
    }
    expect(images.length).toBeGreaterThan(20)
  }
  expect(indexed).toBeGreaterThan(nodes)
})
