import { Buffer } from 'node:buffer'
import type { ByteWriter } from './byteList.ts'

/** JSON in one piece, ASCII, in which things stand that are also asked for by themselves. */
export class KeptText {
  readonly bytes: Buffer
  /** where each thing begins and ends */
  readonly #bounds: Uint32Array

  constructor(bytes: Buffer, bounds: readonly number[]) {
    this.bytes = bytes
    this.#bounds = Uint32Array.from(bounds)
  }

  /** things in it */
  get count(): number {
    return this.#bounds.length / 2
  }

  /** memory it takes */
  get sizeBytes(): number {
    return this.bytes.length + this.#bounds.byteLength
  }

  /** Where a thing begins; beyond the last: 0. */
  start(index: number): number {
    return this.#bounds[2 * index] ?? 0
  }

  /** One thing; no text beyond the last. */
  text(index: number): string {
    return this.bytes.toString('latin1', this.start(index), this.#bounds[2 * index + 1] ?? 0)
  }

  writeTo(writer: ByteWriter, index: number): void {
    writer.bytes(this.bytes, this.start(index), this.#bounds[2 * index + 1] ?? 0)
  }
}

/** Collects text that is to be kept in one piece. */
export class TextCollector {
  readonly #texts: string[] = []
  #length = 0

  /** so far */
  get length(): number {
    return this.#length
  }

  add(text: string): void {
    this.#texts.push(text)
    this.#length += text.length
  }

  bytes(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.#length)
    let at = 0
    for (const text of this.#texts) at += bytes.write(text, at, 'latin1')
    return bytes
  }
}

/** A list, of which each item is kept. */
export function keptList(items: Iterable<string>): KeptText {
  const collector = new TextCollector()
  const bounds: number[] = []
  collector.add('[')
  for (const item of items) {
    if (bounds.length > 0) collector.add(',')
    bounds.push(collector.length)
    collector.add(item)
    bounds.push(collector.length)
  }
  collector.add(']')
  return new KeptText(collector.bytes(), bounds)
}
