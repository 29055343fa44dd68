import { expect, it } from 'vitest'
import { type ConnectionSlot, ConnectionSlots } from './connectionSlots.ts'

/** Slots whose evictions are recorded by name. */
function hall(max: number) {
  const ended: string[] = []
  const slots = new ConnectionSlots(max)
  const take = (address: string, name: string): ConnectionSlot | undefined => slots.take(address, () => ended.push(name))
  const taken = (address: string, name: string): ConnectionSlot => take(address, name) ?? expect.fail(`${name} got no slot`)
  return { slots, ended, take, taken }
}

it('rpc/server/connectionSlots: a new connection takes the slot of the idlest connection', () => {
  const { ended, taken, slots } = hall(3)
  const [first] = [taken('a', 'a1'), taken('a', 'a2'), taken('a', 'a3')]
  first.use()
  taken('a', 'a4')
  taken('a', 'a5')
  expect([ended, slots.count]).toEqual([['a2', 'a3'], 3])
})

it('rpc/server/connectionSlots: busy connections keep their slots; a newcomer of the same address gets none when all are busy', () => {
  const { ended, take, taken } = hall(2)
  const [first, second] = [taken('a', 'a1'), taken('a', 'a2')]
  first.begin()
  second.begin()
  expect(take('a', 'a3')).toBeUndefined()
  second.finish()
  taken('a', 'a4')
  expect(ended).toEqual(['a2'])
})

it('rpc/server/connectionSlots: evicts from the address that holds most, even busy connections when the newcomer has another address', () => {
  const { ended, taken } = hall(4)
  taken('b', 'b1')
  for (const name of ['a1', 'a2', 'a3']) taken('a', name).begin()
  taken('c', 'c1')
  taken('c', 'c2')
  taken('d', 'd1')
  expect(ended).toEqual(['a1', 'c1', 'a2'])
})

it('rpc/server/connectionSlots: an address with few slots, all busy, takes the slot of the idlest connection of all', () => {
  const { ended, taken } = hall(20)
  for (let each = 0; each < 19; each++) taken(`address ${each}`, `idle ${each}`)
  taken('a', 'a1').begin()
  taken('a', 'a2').begin()
  expect(ended).toEqual(['idle 0'])
})

it('rpc/server/connectionSlots: an address with few slots does not lose busy connections', () => {
  const { ended, take, taken } = hall(40)
  for (let each = 0; each < 20; each++) {
    taken(`address ${each}`, 'one').begin()
    taken(`address ${each}`, 'two').begin()
  }
  expect(take('new', 'newcomer')).toBeUndefined()
  expect(ended).toEqual([])
})

it('rpc/server/connectionSlots: authenticated connections are evicted only for one another, and leave slots for other clients', () => {
  const { ended, take, taken, slots } = hall(10)
  for (let each = 0; each < 8; each++) taken('a', `known ${each}`).know()
  const strangers = Array.from({ length: 100 }, (_, each) => `stranger ${each}`)
  expect(strangers.filter((name) => take('b', name) === undefined)).toEqual([])
  expect(ended).toEqual(strangers.slice(0, -2))
  taken('b', 'late').know()
  expect(ended.filter((name) => name.startsWith('known'))).toEqual(['known 0'])
  expect(slots.count).toBe(9)
})

it('rpc/server/connectionSlots: a closed connection returns its slot once', () => {
  const { slots, taken } = hall(2)
  const slot = taken('a', 'a1')
  slot.know()
  slot[Symbol.dispose]()
  slot[Symbol.dispose]()
  slot.know()
  expect(slots.count).toBe(0)
})
