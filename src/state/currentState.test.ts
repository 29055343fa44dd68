import { expect, it } from 'vitest'
import { noNodes } from '#trie/ports'
import { zeroHash } from '#types/ids'
import { CurrentState } from './currentState.ts'
import { noState } from './stateRoot.ts'

it('state/currentState: is readable only during `during`, also after an error inside', () => {
  const current = new CurrentState()
  const state = { view: { ...noState, blockHash: () => zeroHash }, nodes: noNodes }
  expect(current.during(state, () => current.view.blockHash(1))).toBe(zeroHash)
  expect(() => current.view.blockHash(1)).toThrow(RangeError)
  const fails = () => {
    throw new Error('in between')
  }
  expect(() => current.during(state, fails)).toThrow('in between')
  expect(() => current.nodes.get(undefined, new Uint8Array(0), new Uint8Array(32))).toThrow(RangeError)
})
