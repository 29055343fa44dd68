import { expect, it } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import { dice } from '#test/harness/dice'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { imagesAfter, NodeChanges, type NodeTail, nodeDigest } from './nodeHistory.ts'
import { accountNodesTable } from './rows.ts'

const head = 90
const nodes = 40

it('state/nodeHistory: finds the same images with and without an index of the blocks that no segment covers', () => {
  const below = dice(1)
  const kv = createMemoryKv()
  kv.write((tx) => {
    for (let number = 1; number <= head; number++) {
      const changes = new NodeChanges(number)
      for (let node = 0; node < nodes; node++) {
        if (below(4) === 0) changes.add(accountNodesTable, u64Bytes(node), new Uint8Array(1 + below(200)).fill(number), undefined)
      }
      changes.writeTo(tx)
    }
  })
  using reader = kv.snapshot()
  let indexed = 0
  const plain: NodeTail = { row: (_number, read) => read(), index: () => undefined }
  const indexing: NodeTail = {
    ...plain,
    index(_segment, compute) {
      indexed++
      return compute()
    },
  }
  for (let node = 0; node < nodes; node++) {
    for (const number of [0, 1, 62, 63, 64, 70, 89, 90]) {
      const digest = nodeDigest(accountNodesTable, u64Bytes(node))
      const images = [...imagesAfter({ reader, tail: plain }, number, head, digest)]
      expect([...imagesAfter({ reader, tail: indexing }, number, head, digest)]).toEqual(images)
      if (number === 0) expect(images.length).toBeGreaterThan(5)
    }
  }
  expect(indexed).toBeGreaterThan(nodes)
})
