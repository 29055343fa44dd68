import { expect, it } from 'vitest'
import { type Place, Places } from './places.ts'

/** Places whose ends are remembered by name. */
function hall(max: number) {
  const ended: string[] = []
  const places = new Places(max)
  const take = (address: string, name: string): Place | undefined => places.take(address, () => ended.push(name))
  const taken = (address: string, name: string): Place => take(address, name) ?? expect.fail(`${name} got no place`)
  return { places, ended, take, taken }
}

it('rpc/places: a new connection takes the place of the one that was not used for longest', () => {
  const { ended, taken, places } = hall(3)
  const [first] = [taken('a', 'a1'), taken('a', 'a2'), taken('a', 'a3')]
  first.use()
  taken('a', 'a4')
  taken('a', 'a5')
  expect([ended, places.count]).toEqual([['a2', 'a3'], 3])
})

it('rpc/places: connections with calls under way keep their places; where all are in use a newcomer of their address gets none', () => {
  const { ended, take, taken } = hall(2)
  const [first, second] = [taken('a', 'a1'), taken('a', 'a2')]
  first.begin()
  second.begin()
  expect(take('a', 'a3')).toBeUndefined()
  second.finish()
  taken('a', 'a4')
  expect(ended).toEqual(['a2'])
})

it('rpc/places: the address that holds most gives way, to others even what is in use', () => {
  const { ended, taken } = hall(4)
  taken('b', 'b1')
  for (const name of ['a1', 'a2', 'a3']) taken('a', name).begin()
  taken('c', 'c1')
  taken('c', 'c2')
  taken('d', 'd1')
  expect(ended).toEqual(['a1', 'c1', 'a2'])
})

it('rpc/places: an address with few places, all in use, takes the place of the idlest connection of all', () => {
  const { ended, taken } = hall(20)
  for (let each = 0; each < 19; each++) taken(`address ${each}`, `idle ${each}`)
  taken('a', 'a1').begin()
  taken('a', 'a2').begin()
  expect(ended).toEqual(['idle 0'])
})

it('rpc/places: an address with few places does not lose what is in use', () => {
  const { ended, take, taken } = hall(40)
  for (let each = 0; each < 20; each++) {
    taken(`address ${each}`, 'one').begin()
    taken(`address ${each}`, 'two').begin()
  }
  expect(take('new', 'newcomer')).toBeUndefined()
  expect(ended).toEqual([])
})

it('rpc/places: authenticated connections give way to one another alone, and leave places for strangers', () => {
  const { ended, take, taken, places } = hall(10)
  for (let each = 0; each < 8; each++) taken('a', `known ${each}`).know()
  for (let each = 0; each < 100; each++) expect(take('b', `stranger ${each}`)).toBeDefined()
  expect(ended.some((name) => name.startsWith('known'))).toBe(false)
  taken('b', 'late').know()
  expect(ended.filter((name) => name.startsWith('known'))).toEqual(['known 0'])
  expect(places.count).toBe(9)
})

it('rpc/places: a connection that has closed gives its place back once', () => {
  const { places, taken } = hall(2)
  const place = taken('a', 'a1')
  place.know()
  place[Symbol.dispose]()
  place[Symbol.dispose]()
  place.know()
  expect(places.count).toBe(0)
})
