import type { EvmFork } from '#chainspec/evmRules'
import type { Address } from '#types/ids'
import { Assembler } from './assembler.ts'
import { hasFork } from './opcodes.ts'
import type { Random } from './random.ts'

/** Facts of a world that its contracts use while they are written. */
export type Surroundings = {
  readonly fork: EvmFork
  readonly contracts: readonly Address[]
  /** Contracts that change no state, for static calls. */
  readonly readers: readonly Address[]
  /** Accounts without code, some of them absent. */
  readonly others: readonly Address[]
  readonly precompiles: readonly bigint[]
  /** Valid inputs of precompiles, by address. */
  readonly precompileInputs: ReadonlyMap<bigint, readonly Uint8Array[]>
}

/**
 * Writes the code of one contract and tracks the number of words on the stack, so that the code mostly runs. Words below `floor` belong to the
 * surrounding code: a statement may read them but not remove them.
 */
export class Writer {
  readonly random: Random
  readonly around: Surroundings
  readonly asm: Assembler = new Assembler()
  readonly isReader: boolean
  height = 0
  floor = 0
  /** Number of loops and branches around the current position. */
  nesting = 0
  /** Number of statements that may still be written. */
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

  /** Opcode that takes and gives these numbers of words. */
  op(opcode: number, takes: number, gives: number): void {
    this.asm.op(opcode)
    this.height += gives - takes
  }

  push(value: bigint | number): void {
    if (BigInt(value) === 0n && this.has('shanghai') && this.random.percent(60)) this.asm.op(0x5f)
    else this.asm.push(value, this.random.percent(5) ? 32 : undefined)
    this.height++
  }

  /** Any word: a new one, or a copy of a word on the stack. */
  word(): void {
    if (this.height > 0 && this.random.percent(45)) {
      const depth = this.random.between(1, Math.min(16, this.height))
      this.op(0x7f + depth, 0, 1)
    } else this.push(this.random.word())
  }

  /** Offset that needs little memory: odd, even, or at the edge of a word. */
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

  /** Pops the words that a piece of code has left above the floor. */
  settle(height: number): void {
    while (this.height > height) this.op(0x50, 1, 0)
    while (this.height < height) this.push(0)
  }

  /** Code that leaves the height of the stack unchanged and does not remove lower words. */
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
