import { expect, it } from 'vitest'
import type { KvReader } from '#store/ports'
import { SharedSnapshot } from './sharedSnapshot.ts'

function counted(): { readonly snapshot: KvReader & Disposable; ended(): number } {
  let ended = 0
  const snapshot = {
    get: () => new Uint8Array(1),
    look: () => undefined,
    peek: () => undefined,
    range: () => [],
    keys: () => [],
    [Symbol.dispose]: () => void ended++,
  }
  return { snapshot, ended: () => ended }
}

it('blockchain/view/sharedSnapshot: stays open between two users, and is disposed once when retired and left by all', () => {
  const { snapshot, ended } = counted()
  const shared = new SharedSnapshot(snapshot)
  shared[Symbol.dispose]()
  shared.enter()
  shared.enter()
  expect(shared.get(1, new Uint8Array(1))).toEqual(new Uint8Array(1))
  shared[Symbol.dispose]()
  shared.retire()
  expect(ended()).toBe(0)
  shared[Symbol.dispose]()
  expect(ended()).toBe(1)
})

it('blockchain/view/sharedSnapshot: is disposed at once when it is retired without users', () => {
  const { snapshot, ended } = counted()
  const shared = new SharedSnapshot(snapshot)
  shared[Symbol.dispose]()
  expect(ended()).toBe(0)
  shared.retire()
  expect(ended()).toBe(1)
})
