import { type ByteList, ByteWriter } from '../../byteList.ts'
import type { KeptLogs } from '../../keptLogs.ts'
import { logText, type PlacedLog } from '../../results/log.ts'

const comma = 0x2c

/** What a search for logs has found so far, as the JSON of a list. */
export class FoundLogs {
  readonly #writer = new ByteWriter()
  #count = 0

  constructor() {
    this.#writer.ascii('[')
  }

  get count(): number {
    return this.#count
  }

  add(logs: Iterable<PlacedLog>): void {
    for (const log of logs) {
      this.#separate()
      this.#writer.ascii(logText(log))
    }
  }

  /** @param indexes in the block */
  addKept(logs: KeptLogs, indexes: readonly number[]): void {
    for (const index of indexes) {
      this.#separate()
      logs.writeTo(this.#writer, index)
    }
  }

  /** To be called once, when nothing more comes. */
  finish(): ByteList {
    this.#writer.ascii(']')
    return this.#writer.finish()
  }

  #separate(): void {
    if (this.#count++ > 0) this.#writer.byte(comma)
  }
}
