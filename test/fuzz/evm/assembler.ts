/** Position in the code that can be referenced before it is placed. */
export type Label = number

type Fixup = { readonly at: number; readonly label: Label; readonly turn: (place: number) => number }

/** Assembles code: opcodes, pushes, jump targets, and data after the code. */
export class Assembler {
  readonly #bytes: number[] = []
  readonly #places: number[] = []
  readonly #fixups: Fixup[] = []
  readonly #blobs: { readonly label: Label; readonly bytes: Uint8Array }[] = []

  get size(): number {
    return this.#bytes.length
  }

  op(...opcodes: readonly number[]): void {
    this.#bytes.push(...opcodes)
  }

  /** Shortest PUSH from PUSH1 on, or a PUSH of `size` bytes. */
  push(value: bigint | number, size?: number): void {
    const digits = value.toString(16)
    const length = size ?? Math.max(1, (digits.length + 1) >> 1)
    const padded = digits.padStart(length * 2, '0')
    this.#bytes.push(0x5f + length)
    for (let at = 0; at < padded.length; at += 2) this.#bytes.push(Number.parseInt(padded.slice(at, at + 2), 16))
  }

  label(): Label {
    return this.#places.push(-1) - 1
  }

  /** Places a JUMPDEST. */
  place(label: Label): void {
    this.#places[label] = this.#bytes.length
    this.#bytes.push(0x5b)
  }

  /** PUSH2 of a label's position, or of the result of `turn`. */
  pushLabel(label: Label, turn: (place: number) => number = (place) => place): void {
    this.#bytes.push(0x61, 0, 0)
    this.#fixups.push({ at: this.#bytes.length - 2, label, turn })
  }

  /** Adds bytes after the code; the label is their start. */
  data(bytes: Uint8Array): Label {
    const label = this.label()
    this.#blobs.push({ label, bytes })
    return label
  }

  finish(): Uint8Array {
    for (const { label, bytes } of this.#blobs) {
      this.#places[label] = this.#bytes.length
      this.#bytes.push(...bytes)
    }
    for (const { at, label, turn } of this.#fixups) {
      const place = turn(this.#places[label] ?? 0) & 0xffff
      this.#bytes[at] = place >> 8
      this.#bytes[at + 1] = place & 0xff
    }
    return Uint8Array.from(this.#bytes)
  }
}
