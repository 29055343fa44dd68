// Contracts that run one opcode at a limit of its rules, and a contract that calls many of them.
import type { Address } from '#types/ids'
import { Assembler } from './assembler.ts'
import { type Opcode, opcodesOf } from './opcodes.ts'
import type { Random } from './random.ts'
import type { Surroundings } from './writer.ts'

/**
 * `plain`: enough of everything. `short`: one word too few. `full`: on a full stack. `poor`: only the gas for the code before it. `static`: in a static
 * call.
 */
const edgeKinds = ['plain', 'short', 'full', 'poor', 'static'] as const
type EdgeKind = (typeof edgeKinds)[number]
export type Edge = { readonly opcode: Opcode; readonly kind: EdgeKind }
type EdgeContract = { readonly code: Uint8Array; readonly gas: number; readonly isStatic: boolean }

const maxStack = 1_024

function applies({ takes, gives, writes }: Opcode, kind: EdgeKind): boolean {
  if (kind === 'short') return takes > 0
  if (kind === 'full') return gives > takes
  return kind !== 'static' || writes === true
}

/** All edges of a fork's opcodes. */
export function edgesOf(fork: Surroundings['fork']): Edge[] {
  return opcodesOf(fork).flatMap((opcode) => edgeKinds.filter((kind) => applies(opcode, kind)).map((kind) => ({ opcode, kind })))
}

/** Point evaluation as an address. It is excluded: the oracle runs without a KZG library. */
const pointEvaluation = 10

/** Small operand, so that only the opcode itself can fail. The value of a CALL is not zero; there is no return data to copy. */
function operand(random: Random, { name }: Opcode, fromTop: number): number {
  if (name === 'CALL' && fromTop === 2) return 1
  if (name === 'RETURNDATACOPY' && fromTop > 0) return 0
  const word = random.below(48)
  return word === pointEvaluation ? word + 1 : word
}

/** Contract with its gas: enough for the code before the opcode, and nothing more for a poor one. */
export function edgeContract(random: Random, { opcode, kind }: Edge): EdgeContract {
  const asm = new Assembler()
  const target = asm.label()
  const isJump = opcode.name.startsWith('JUMP') && opcode.takes > 0
  let spent = 0
  const words = kind === 'short' ? random.below(opcode.takes) : opcode.takes
  const below = kind === 'full' ? maxStack - words : random.below(3)
  for (let i = 0; i < below && kind !== 'short'; i++) {
    asm.op(random.pick([0x30, 0x36, 0x58, 0x59, 0x3d]))
    spent += 2
  }
  for (let i = words; i > 0; i--) {
    if (isJump && i === 1) asm.pushLabel(target)
    else asm.push(operand(random, opcode, i - 1))
    spent += 3
  }
  const size = opcode.code >= 0x60 && opcode.code <= 0x7f ? opcode.code - 0x5f : 0
  asm.op(opcode.code, ...random.bytes(random.percent(90) ? size : random.below(size + 1)))
  if (isJump) asm.place(target)
  if (random.percent(30)) asm.op(random.pick([0x00, 0x5a, 0x3d]))
  return { code: asm.finish(), gas: kind === 'poor' ? spent : spent + 100_000, isStatic: kind === 'static' }
}

/** Calls the contracts one after another, keeps their results, and reverts at the end when it has calldata. */
export function edgeDriver(calls: readonly { readonly to: Address; readonly gas: number; readonly isStatic: boolean }[]): Uint8Array {
  const asm = new Assembler()
  const bad = asm.label()
  asm.push(0)
  for (const { to, gas, isStatic } of calls) {
    for (const word of [32, 0, 4, 0]) asm.push(word)
    if (!isStatic) asm.push(0)
    asm.push(BigInt(to))
    asm.push(gas)
    asm.op(isStatic ? 0xfa : 0xf1, 0x01, 0x3d, 0x01)
    asm.push(0)
    asm.op(0x51, 0x01)
  }
  asm.push(0)
  asm.op(0x55, 0x36)
  asm.pushLabel(bad)
  asm.op(0x57, 0x00)
  asm.place(bad)
  asm.push(32)
  asm.push(0)
  asm.op(0xfd)
  return asm.finish()
}
