import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { PeerBook } from './peerBook.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-book-'))
afterAll(() => rmSync(folder, { recursive: true }))
const addressOf = (id: string): string => `/ip4/192.0.2.1/tcp/9222/p2p/${id}`
const clock = createManualClock()
const open = (file: string): PeerBook => new PeerBook({ clock, log: silentLog }, join(folder, file))

it('p2p/net/peerBook: known peers survive a restart, those reached last first', async () => {
  const book = open('peers.json')
  for (const id of ['a', 'b', 'c']) book.found(id, addressOf(id), `enr:${id}`)
  book.connected('b')
  await clock.advanceMs(1_000)
  book.connected('c')
  book.save()
  expect(statSync(join(folder, 'peers.json')).mode & 0o777).toBe(0o600)
  const again = open('peers.json')
  expect(again.all().map(({ peerId }) => peerId)).toEqual(['c', 'b', 'a'])
  expect(again.get('b')).toMatchObject({ address: addressOf('b'), enr: 'enr:b' })
})

it.each([
  ['damaged', '[{"peerId":'],
  ['of another form', '{"peers":[]}'],
  ['with an overlong address', JSON.stringify([{ peerId: 'a', address: 'x'.repeat(600), seenMs: 0 }])],
])('p2p/net/peerBook: starts without peers on a file that is %s, and replaces it', (_, content) => {
  writeFileSync(join(folder, 'bad.json'), content)
  const book = open('bad.json')
  expect(book.size).toBe(0)
  book.found('a', addressOf('a'))
  book.save()
  expect(JSON.parse(readFileSync(join(folder, 'bad.json'), 'utf8'))).toHaveLength(1)
})

it('p2p/net/peerBook: keeps 2,048 peers: those reached last, then those found first, and the newest', () => {
  const book = open('many.json')
  book.found('first', addressOf('first'))
  book.connected('first')
  for (let i = 0; i < 3_000; i++) book.found(`peer${i}`, addressOf(`peer${i}`))
  expect(book.size).toBe(2_048)
  for (const kept of ['first', 'peer0', 'peer2045', 'peer2999']) expect(book.get(kept)).toMatchObject({ address: addressOf(kept) })
  for (const removed of ['peer2046', 'peer2998']) expect(book.get(removed)).toBeUndefined()
})
