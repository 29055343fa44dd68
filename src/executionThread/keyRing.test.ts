import { expect, it } from 'vitest'
import { KeyRing } from './keyRing.ts'

const key = (number: number): Uint8Array => {
  const bytes = new Uint8Array(32)
  new DataView(bytes.buffer).setUint32(28, number)
  return bytes
}

it('executionThread/keyRing: gives the keys of reads in order, each once', () => {
  const ring = KeyRing.create()
  const [first, second] = [new KeyRing(ring.memory), new KeyRing(ring.memory)]
  ring.note(key(1))
  ring.note(key(2), key(3))
  ring.note(key(4))
  expect(first.take()).toEqual({ addressKey: key(1), slotKey: undefined })
  expect(second.take()).toEqual({ addressKey: key(2), slotKey: key(3) })
  expect(first.take()).toEqual({ addressKey: key(4), slotKey: undefined })
  expect([first.take(), second.take()]).toEqual([undefined, undefined])
})

it('executionThread/keyRing: keeps the last 4,096 keys when no thread takes them', () => {
  const ring = KeyRing.create()
  for (let number = 0; number < 10_000; number++) ring.note(key(number))
  for (let number = 10_000 - 4_096; number < 10_000; number++) expect(ring.take()?.addressKey).toEqual(key(number))
  expect(ring.take()).toBeUndefined()
})

it('executionThread/keyRing: counts beyond 2^31 keys', () => {
  const ring = KeyRing.create()
  const header = new Int32Array(ring.memory, 0, 3)
  header.fill(2 ** 31 - 2, 1)
  for (const number of [0, 1, 2, 3]) ring.note(key(number))
  expect([0, 1, 2, 3].map(() => ring.take()?.addressKey)).toEqual([0, 1, 2, 3].map(key))
  expect(ring.take()).toBeUndefined()
})

it('executionThread/keyRing: drops keys on request, and waits for at most the given time', () => {
  const ring = KeyRing.create()
  ring.note(key(1))
  ring.wait(60_000)
  ring.clear()
  expect(ring.take()).toBeUndefined()
  ring.wait(1)
  ring.note(key(2))
  expect(ring.take()?.addressKey).toEqual(key(2))
})
