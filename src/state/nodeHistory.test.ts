import { expect, it } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import { dice } from '#test/harness/dice'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { Digests, digestWith } from './digests/digests.ts'
import { imagesIn, NodeChanges, type NodeTail } from './nodeHistory.ts'
import type { NodeImage } from './nodeRow.ts'
import { accountNodesTable } from './rows.ts'

const head = 300
const nodes = 10
/** with a key from block 100 on, and another from block 250 on */
const digests = new Digests([]).from(100, digestWith(new Uint8Array(8).fill(1))).from(250, digestWith(new Uint8Array(8).fill(2)))

it('state/nodeHistory: finds the same images with and without an index of the blocks that no segment covers, near the head and far below', () => {
  const below = dice(1)
  const kv = createMemoryKv()
  const written = Array.from({ length: nodes }, (): { readonly number: number; readonly rlp: Uint8Array }[] => [])
  kv.write((tx) => {
    for (let number = 1; number <= head; number++) {
      const changes = new NodeChanges(number, digests.at(number))
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
  const plain: NodeTail = { row: (_number, read) => read(), segmentIndex: () => undefined, groupIndex: () => undefined }
  const indexing: NodeTail = {
    ...plain,
    segmentIndex: (_segment, read) => read(),
    groupIndex(_group, compute) {
      indexed++
      return compute()
    },
  }
  for (const [node, images] of written.entries()) {
    for (const number of [0, 1, 62, 63, 64, 70, 126, 190, 191, 192, 230, 260, 279, 280, 299, 300]) {
      const found = (tail: NodeTail): NodeImage[] =>
        digests.spans(number + 1, head).flatMap(({ from, to, digest }) => {
          return [...imagesIn({ reader, tail }, { from, to, head }, digest.node(accountNodesTable, u64Bytes(node)))]
        })
      const after = images.filter((image) => image.number > number).map(({ rlp }) => ({ kind: 'whole', rlp }))
      expect(found(plain)).toEqual(after)
      expect(found(indexing)).toEqual(after)
    }
    expect(images.length).toBeGreaterThan(20)
  }
  expect(indexed).toBeGreaterThan(nodes)
})
