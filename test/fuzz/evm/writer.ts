import type { EvmFork } from '#chainspec/evmRules'
import type { Address } from '#types/ids'
import { Assembler } from './assembler.ts'
import { hasFork } from './opcodes.ts'
import type { Random } from './random.ts'

/** What the contracts of a world know of it while they are written. */
export type Surroundings = {
  readonly fork: EvmFork
  readonly contracts: readonly Address[]
  /** those that change nothing: good to be called statically */
  readonly readers: readonly Address[]
  /** accounts without code, some of which do not exist */
  readonly others: readonly Address[]
  readonly precompiles: readonly bigint[]
  /** inputs that precompiles take, by address */
  readonly precompileInputs: ReadonlyMap<bigint, readonly Uint8Array[]>
}

/**
 * Writes the code of one contract and knows how many words are on the stack, so that what it writes mostly runs. Words below `floor` belong to
 * what surrounds a piece of code: they may be read but not taken.
 */
export class Writer {
  readonly random: Random
  readonly around: Surroundings
  readonly asm: Assembler = new Assembler()
  readonly isReader: boolean
  height = 0
  floor = 0
  /** how many loops and branches this place is in */
  nesting = 0
  /** statements that may still be written */
  budget: number

  constructor(random: Random, around: Surroundings, options: { readonly isReader: boolean; readonly budget: number }) {
    this.random = random
    this.around = around
    this.isReader = options.isReader
    this.budget = options.budget
  }

  has(since: EvmFork): boolean {
    return hasFork(this.around.fork, since)
  }

  /** An opcode that takes and gives so many words. */
  op(opcode: number, takes: number, gives: number): void {
    this.asm.op(opcode)
    this.height += gives - takes
  }

  push(value: bigint | number): void {
    if (BigInt(value) === 0n && this.has('shanghai') && this.random.percent(60)) this.asm.op(0x5f)
    else this.asm.push(value, this.random.percent(5) ? 32 : undefined)
    this.height++
  }

  /** Any word: new, or a copy of one that is there. */
  word(): void {
    if (this.height > 0 && this.random.percent(45)) {
      const depth = this.random.between(1, Math.min(16, this.height))
      this.op(0x7f + depth, 0, 1)
    } else this.push(this.random.word())
  }

  /** Small enough to cost little memory: odd ones, even ones, the edges of words. */
  offset(): void {
    const { random } = this
    if (this.height > 0 && random.percent(15)) {
      this.word()
      this.push(random.pick([0x1f, 0x3f, 0xff, 0x1e0]))
      this.op(0x16, 2, 1)
    } else this.push(random.percent(1) ? random.between(1_000, 40_000) : random.percent(50) ? random.below(8) * 32 : random.below(260))
  }

  size(): void {
    const { random } = this
    this.push(random.percent(15) ? 0 : random.percent(40) ? random.pick([1, 20, 31, 32, 33, 64, 96, 136]) : random.below(200))
  }

  slot(): void {
    if (this.random.percent(10)) this.word()
    else this.push(this.random.below(6))
  }

  /** Takes what a piece of code has left above the floor. */
  settle(height: number): void {
    while (this.height > height) this.op(0x50, 1, 0)
    while (this.height < height) this.push(0)
  }

  /** Code whose words stay its own: it ends with as many as it began with. */
  inside(write: () => void): void {
    const { height, floor } = this
    this.floor = height
    this.nesting++
    write()
    this.settle(height)
    this.nesting--
    this.floor = floor
  }
}
