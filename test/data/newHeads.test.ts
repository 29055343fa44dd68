import { expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { decodeBlock } from '#types/block'
import type { Hash } from '#types/ids'
import { headResult } from '../../src/rpc/results/block.ts'
import { notificationOf } from '../../src/rpc/subscriptions/notification.ts'

type Told = { readonly method?: string; readonly params?: { readonly subscription: string; readonly result: Record<string, unknown> } }

it('rpc/subscriptions: emits the newHeads of a recorded chain as another client did, field by field', () => {
  const { blocks } = readSharedJson<{ blocks: { hash: Hash; raw: string }[] }>('flashblocks/l2.json.zst')
  const byHash = new Map(blocks.map(({ hash, raw }) => [hash, { hash, block: decodeBlock(fromHex(raw)) }]))
  const lines = readShared('flashblocks/subscriptions.jsonl.zst').toString('utf8').trim().split('\n')
  const messages = lines.map((line) => JSON.parse(line) as { msg: Told & { id?: number; result?: string } })
  const subscription = messages.find(({ msg }) => msg.id === 1)?.msg.result ?? ''
  const notifications = messages.filter(({ msg }) => msg.params?.subscription === subscription).map(({ msg }) => msg)
  expect(notifications.length).toBeGreaterThan(40)
  for (const message of notifications) {
    const block = byHash.get(message.params?.result['hash'] as Hash)
    if (block === undefined) throw new Error('block was not recorded')
    expect(JSON.parse(notificationOf(headResult.encode(block))(subscription))).toEqual(message)
  }
})
