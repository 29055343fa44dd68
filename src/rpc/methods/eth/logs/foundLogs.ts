import type { KeptLogs } from '../../../cache/keptLogs.ts'
import { type ByteList, ByteWriter } from '../../../results/byteList.ts'
import { type LocatedLog, logText } from '../../../results/log.ts'

const comma = 0x2c

/** Collects the logs of a search as a JSON list. */
export class FoundLogs {
  readonly #writer = new ByteWriter()
  #count = 0

  constructor() {
    this.#writer.ascii('[')
  }

  get count(): number {
    return this.#count
  }

  get sizeBytes(): number {
    return this.#writer.length
  }

  add(logs: Iterable<LocatedLog>): void {
    for (const log of logs) {
      this.#separate(1)
      this.#writer.ascii(logText(log))
    }
  }

  /** @param places positions of the logs to add */
  addKept(logs: KeptLogs, places: ArrayLike<number>): void {
    if (places.length === 0) return
    this.#separate(places.length)
    logs.writeTo(this.#writer, places)
  }

  /** Completes the list. To be called once. */
  finish(): ByteList {
    this.#writer.ascii(']')
    return this.#writer.finish()
  }

  #separate(added: number): void {
    if (this.#count > 0) this.#writer.byte(comma)
    this.#count += added
  }
}
