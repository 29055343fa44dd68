import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Seats } from './seats.ts'

it('flashblocks/seats: refuses a client with too many seats, and any client when all seats are shared evenly', () => {
  const seats = new Seats<number>({ max: 4, maxPerClient: 2 })
  expect([1, 2, 3].map((connection) => seats.take('a', connection))).toEqual([
    { kind: 'seated' },
    { kind: 'seated' },
    { kind: 'refused', why: 'address' },
  ])
  expect([seats.take('b', 4), seats.take('c', 5), seats.take('b', 6)].map(({ kind }) => kind)).toEqual(['seated', 'seated', 'refused'])
})

it('flashblocks/seats: evicts the oldest seat of the client with the most for a client with two fewer', () => {
  const seats = new Seats<number>({ max: 4, maxPerClient: 4 })
  for (const connection of [1, 2, 3]) seats.take('a', connection)
  seats.take('b', 4)
  expect(seats.take('c', 5)).toEqual({ kind: 'seated', evicted: 1 })
  expect(seats.take('c', 6)).toEqual({ kind: 'refused', why: 'full' })
  seats.leave(1)
  seats.leave(2)
  expect(seats.take('c', 7)).toEqual({ kind: 'seated' })
})

it('flashblocks/seats: seats a client without a seat unless every client has only one; keeps its limits', () => {
  const move = fc.record({ client: fc.constantFrom(...'abcdef'), leaves: fc.boolean() })
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 4 }), (moves, max, most) => {
      const seats = new Seats<number>({ max, maxPerClient: most })
      const model = new Map<number, string>()
      for (const [connection, { client, leaves }] of moves.entries()) {
        if (leaves) {
          const [first] = model.keys()
          if (first === undefined) continue
          seats.leave(first)
          model.delete(first)
          continue
        }
        const clients = [...model.values()]
        const held = clients.filter((one) => one === client).length
        const seating = seats.take(client, connection)
        if (seating.kind === 'seated') model.set(connection, client)
        else expect(held > 0 || new Set(clients).size === clients.length).toBe(true)
        if (seating.kind === 'seated' && seating.evicted !== undefined) expect(model.delete(seating.evicted)).toBe(true)
        expect(seats.size).toBe(model.size)
        expect(model.size).toBeLessThanOrEqual(max)
        expect([...model.values()].filter((one) => one === client).length).toBeLessThanOrEqual(most)
      }
    }),
  )
})
