import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { TurnWrites } from './turnWrites.ts'

function writersOf(written: string[]) {
  return (name: string) => ({ write: (): void => void written.push(name) })
}

it('rpc/server/turnWrites: writes the answers of a turn at its end, in order', async () => {
  const written: string[] = []
  const writer = writersOf(written)
  const writes = new TurnWrites()
  writes.beforeAnswer(0)
  for (const name of ['a', 'b', 'c']) writes.add(writer(name))
  expect(written).toEqual([])
  await nextTurn()
  expect(written).toEqual(['a', 'b', 'c'])
  writes.add(writer('d'))
  await nextTurn()
  expect(written).toEqual(['a', 'b', 'c', 'd'])
})

it('rpc/server/turnWrites: an answer waits half a millisecond at most for the next one', async () => {
  const written: string[] = []
  const writer = writersOf(written)
  const writes = new TurnWrites()
  writes.beforeAnswer(10)
  writes.add(writer('a'))
  writes.beforeAnswer(10.4)
  writes.add(writer('b'))
  expect(written).toEqual([])
  writes.beforeAnswer(10.6)
  expect(written).toEqual(['a', 'b'])
  writes.add(writer('c'))
  writes.beforeAnswer(11)
  expect(written).toEqual(['a', 'b'])
  await nextTurn()
  expect(written).toEqual(['a', 'b', 'c'])
})
