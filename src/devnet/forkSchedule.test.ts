import { expect, it } from 'vitest'
import { forksUpTo, parseForkOffsets } from './forkSchedule.ts'

/** Forks with upgrade transactions. */
const allAt = (sec: number) => ({ ecotone: sec, fjord: sec, granite: sec, holocene: sec, isthmus: sec, jovian: sec })

it.each([
  ['canyon', { canyon: 0, delta: 0 }],
  ['delta', { canyon: 0, delta: 0 }],
  ['ecotone', { canyon: 0, delta: 0, ecotone: 2 }],
  ['jovian', { canyon: 0, delta: 0, ecotone: 2, fjord: 2, granite: 2, holocene: 2, isthmus: 2, jovian: 2 }],
  ['azul', { canyon: 0, delta: 0, ecotone: 2, fjord: 2, granite: 2, holocene: 2, isthmus: 2, jovian: 2, azul: 2 }],
  ['denim', { canyon: 0, delta: 0, ...allAt(2), azul: 2, beryl: 2, cobalt: 2, denim: 2 }],
])('devnet/forkSchedule: --fork %s includes all forks up to it', (name, offsets) => {
  expect(forksUpTo(name, 2)).toEqual(offsets)
})

it.each([
  ['an empty schedule', {}, { canyon: 0, delta: 0 }],
  ['an ordered schedule', { canyon: 2, delta: 4, ecotone: 6, fjord: 8 }, { canyon: 2, delta: 4, ecotone: 6, fjord: 8 }],
  ['a schedule with a missing fork', { ecotone: 10, granite: 20 }, { canyon: 0, delta: 0, ecotone: 10, fjord: 20, granite: 20 }],
  [
    'a schedule with Denim after the others',
    { cobalt: 6, denim: 30 },
    { canyon: 0, delta: 0, ...allAt(6), azul: 6, beryl: 6, cobalt: 6, denim: 30 },
  ],
  ['a schedule with Azul after the others', { jovian: 6, azul: 8 }, { canyon: 0, delta: 0, ...allAt(6), azul: 8 }],
  [
    'a schedule with the last fork only',
    { isthmus: 9 },
    { canyon: 0, delta: 0, ecotone: 9, fjord: 9, granite: 9, holocene: 9, isthmus: 9 },
  ],
])('devnet/forkSchedule: reads %s', (_what, json, offsets) => {
  expect(parseForkOffsets(json)).toEqual(offsets)
})

it.each<[string, unknown, string]>([
  ['with an unknown fork', { jovain: 2 }, 'UNKNOWN_FORK'],
  ['with a property name of Object', { constructor: 2 }, 'UNKNOWN_FORK'],
  ['with a fork that no version has', { everest: 2 }, 'UNKNOWN_FORK'],
  ['with a fork before Canyon', { regolith: 0 }, 'UNKNOWN_FORK'],
  ['out of order', { ecotone: 20, fjord: 10 }, 'BAD_FORK_SCHEDULE'],
  ['out of order with Canyon', { canyon: 20, ecotone: 10 }, 'BAD_FORK_SCHEDULE'],
  ['with upgrade transactions at genesis', { ecotone: 0 }, 'BAD_FORK_SCHEDULE'],
  ['with a malformed time', { ecotone: '2' }, 'BAD_FORK_SCHEDULE'],
  ['with half a second', { ecotone: 2.5 }, 'BAD_FORK_SCHEDULE'],
  ['in milliseconds since 1970', { ecotone: 1_800_000_000_000 }, 'BAD_FORK_SCHEDULE'],
  ['with a negative time', { ecotone: -2 }, 'BAD_FORK_SCHEDULE'],
  ['of null', null, 'BAD_FORK_SCHEDULE'],
  ['of a list', [1], 'BAD_FORK_SCHEDULE'],
  ['of a text', 'jovian', 'BAD_FORK_SCHEDULE'],
])('devnet/forkSchedule: refuses a schedule %s (%s)', (_what, json, code) => {
  expect(() => parseForkOffsets(json)).toThrow(expect.objectContaining({ code, severity: 'fatal' }))
})

it.each([
  ['jovain', 'UNKNOWN_FORK'],
  ['bedrock', 'UNKNOWN_FORK'],
  ['', 'UNKNOWN_FORK'],
  ['everest', 'UNKNOWN_FORK'],
])('devnet/forkSchedule: refuses --fork %j (%s)', (name, code) => {
  expect(() => forksUpTo(name, 2)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(name) }))
})
