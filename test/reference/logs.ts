import { charge, ensure, pop } from './frame.ts'
import { gas } from './gas.ts'
import type { Operation } from './machine.ts'
import { memorySlice, touchMemory } from './memory.ts'
import { addressOf, hashOf, sizeOf } from './words.ts'

/** Creates LOG0 to LOG4. */
export function log(topicCount: number): Operation {
  return (frame, machine) => {
    if (!ensure(frame, !frame.isStatic, 'write protection')) return
    const offset = pop(frame)
    const size = sizeOf(pop(frame))
    const topics = Array.from({ length: topicCount }, () => hashOf(pop(frame)))
    if (!charge(frame, size * gas.logByte)) return
    const from = touchMemory(frame, offset, size)
    if (from === undefined) return
    machine.journal.log({ address: addressOf(frame.self.address), topics, data: memorySlice(frame, from, size).slice() })
  }
}
