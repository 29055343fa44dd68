import * as OP from './opcode'
import { beginBlock, blockAt, countOpcode, endBlock, wantRest } from './blocks'
import { clearConstants, constantCount, dropConstants, isShort, maxConstants, pushConstant, topConstant, topIsAtMost, writeConstants } from './constants'
import { foldConstants } from './fold'
import * as op from './internal'
import { chunkOpcodes, targetAt } from './jumps'
import { noOpcode, rowOf } from './opcodes'
import { addStub, clearStubs, writeStubs } from './stubs'
import { copyWord, readBytes, setSmall } from './word/word'

/**
 * Translates a code into its instruction stream: basic blocks that are charged and checked at once, folded constants, resolved constant jumps, and
 * single instructions for the most frequent sequences of opcodes. Translation proceeds part by part as execution reaches the code, so executed gas
 * pays for it.
 * Each opcode is translated once: a part ends where another begins. In the traced build each opcode is its own block with a preceding step,
 * and no opcodes are joined.
 */

let start: usize = 0
let out: usize = 0
/** The last and second to last instruction of this block, which the next opcode may be joined with; 0 when there is none. */
let last: usize = 0
let beforeLast: usize = 0
let jumps: usize = 0

/** Stream distance of the target of invalid jumps. */
const nowhere: u32 = 0
/** Stream distance at which execution of a code begins. */
export const firstBlock: usize = 2

/** Writes the start of a stream. @returns the end of it */
export function beginStream(at: usize): usize {
  store<u16>(at, op.opInvalidJump)
  return at + firstBlock
}

/**
 * Translates from `pc` on, up to an opcode that ends the frame or jumps, to code already translated, or to the end of a part.
 * @param table jump table @param stream start of the stream @param end end of the translated stream
 * @returns the new end of the stream
 */
export function translate(code: usize, size: u32, table: usize, stream: usize, end: usize, from: u32): usize {
  start = stream
  out = end
  jumps = table
  clearConstants()
  forget()
  clearStubs()
  let pc = from
  let isDead = false
  for (let opcodes: u32 = 0; pc < size && !isDead; opcodes++) {
    const opcode = <u32>load<u8>(code + pc)
    if (opcodes === chunkOpcodes || (opcode === OP.JUMPDEST && load<u32>(targetAt(jumps, pc)) !== nowhere)) break
    isDead = translateOpcode(code, size, pc, opcode)
    pc += opcode >= OP.PUSH1 && opcode <= OP.PUSH32 ? opcode - 0x5e : 1
  }
  if (!isDead) leadOn(code, size, pc)
  endBlock()
  return writeStubs(start, out)
}

/** Ends a part before `pc`, with a jump to the code at `pc`. */
function leadOn(code: usize, size: u32, pc: u32): void {
  flush()
  if (pc >= size) {
    // the end of the code is a STOP without gas
    if (isDefined(TRACED)) emitWith32(op.opStep, size)
    emit(0)
    return
  }
  emitWith32(op.opJumpTo, nowhere)
  const target = load<u8>(code + pc) === 0x5b ? load<u32>(targetAt(jumps, pc)) : nowhere
  if (target !== nowhere) store<u32>(out - 4, target)
  else addStub(out - 4, pc)
}

/** Translates one opcode. @returns whether the next opcode is reachable only by a jump */
function translateOpcode(code: usize, size: u32, pc: u32, opcode: u32): bool {
  const row = rowOf(opcode)
  if (opcode === OP.JUMPDEST || isDefined(TRACED)) {
    flush()
    endBlock()
    if (opcode === OP.JUMPDEST) store<u32>(targetAt(jumps, pc), <u32>(out - start))
    if (isDefined(TRACED)) {
      emitWith32(op.opStep, pc)
      forget()
    }
  }
  if (blockAt === 0) {
    out = beginBlock(out)
    forget()
  }
  if (row === noOpcode) {
    flush()
    emit(0xfe)
    endBlock()
    return true
  }
  countOpcode(row)
  if (opcode >= OP.PUSH0 && opcode <= OP.PUSH32) {
    readBytes(room(), code + pc + 1, opcode - OP.PUSH0)
    return false
  }
  if (opcode >= OP.DUP1 && opcode <= OP.DUP16) duplicate(opcode - 0x7f)
  else if (opcode >= OP.SWAP1 && opcode <= OP.SWAP16) swap(opcode - 0x8f)
  else return translateOther(size, pc, opcode)
  return false
}

/** Returns the place for another constant. */
function room(): usize {
  if (constantCount() === maxConstants || isDefined(TRACED)) flush()
  return pushConstant()
}

function translateOther(size: u32, pc: u32, opcode: u32): bool {
  switch (opcode) {
    case OP.JUMPDEST:
      return false
    case OP.PC:
      setSmall(room(), pc)
      return false
    case OP.CODESIZE:
      setSmall(room(), size)
      return false
    case OP.POP:
      pop()
      return false
    case OP.JUMP:
      jump(size)
      return true
    case OP.JUMPI:
      jumpIf(size)
      return false
    case OP.GAS:
    case OP.SSTORE:
      flush()
      emit(opcode === OP.GAS ? op.opGas : op.opStore)
      wantRest(out)
      out += 4
      return false
  }
  if (!isDefined(TRACED) && constantCount() > 0 && withConstant(opcode)) return false
  flush()
  if (isDefined(TRACED) || !joined(opcode)) emit(<u16>opcode)
  // after its effects, SELFDESTRUCT ends the frame like STOP
  if (opcode === OP.SELFDESTRUCT) emit(0)
  return endsBlock(opcode)
}

/** Ends the block at calls, creations and opcodes that end a frame, because they need the exact remaining gas. @returns whether the frame ends here */
function endsBlock(opcode: u32): bool {
  const isEnd = opcode === OP.STOP || opcode === OP.RETURN || opcode === OP.REVERT || opcode === OP.SELFDESTRUCT
  if (isEnd || opcode >= OP.CREATE) endBlock()
  return isEnd
}

// ---- writing

function emit(instruction: u16): void {
  beforeLast = last
  last = out
  store<u16>(out, instruction)
  out += 2
}

function emitWith16(instruction: u16, operand: u32): void {
  emit(instruction)
  store<u16>(out, <u16>operand)
  out += 2
}

function emitWith32(instruction: u16, operand: u32): void {
  emit(instruction)
  store<u32>(out, operand)
  out += 4
}

function emitWith64(instruction: u16, operand: u64): void {
  emit(instruction)
  store<u64>(out, operand)
  out += 8
}

function forget(): void {
  last = 0
  beforeLast = 0
}

/** Pushes all pending constants to the stack. */
function flush(): void {
  if (constantCount() === 0) return
  out = writeConstants(out)
  forget()
}

function lastIs(instruction: u32): bool {
  return last !== 0 && <u32>load<u16>(last) === instruction
}

/** Removes the last instruction. */
function unwrite(): void {
  out = last
  last = beforeLast
  beforeLast = 0
}

// ---- stack

function duplicate(n: u32): void {
  const from = topConstant() - (<usize>(n - 1) << 5)
  // a long constant takes 34 bytes of the stream, but the opcode that duplicates it only one byte of the code
  if (n <= constantCount() && !isDefined(TRACED) && isShort(from)) {
    copyWord(room(), from)
    return
  }
  flush()
  emit(<u16>(0x7f + n))
}

function swap(n: u32): void {
  flush()
  emit(<u16>(0x8f + n))
}

function pop(): void {
  if (constantCount() > 0) {
    dropConstants(1)
    // lower constants are too old to be folded: see moreFor in jumps.ts
    flush()
    return
  }
  if (!isDefined(TRACED)) {
    if (lastIs(0x50)) {
      unwrite()
      emit(op.opPopTwo)
      return
    }
    if (lastIs(0x90)) {
      unwrite()
      emit(op.opNip)
      return
    }
  }
  emit(0x50)
}

// ---- joining

/** Translates an opcode whose first operand is a constant. @returns whether it was translated */
function withConstant(opcode: u32): bool {
  if (foldConstants(opcode)) return true
  const short = topIsAtMost(0xffff)
  const value = load<u64>(topConstant())
  switch (opcode) {
    case OP.ADD:
      return short && take(op.opAddShort, value, 2)
    case OP.SHL:
      return topIsAtMost(255) && take(op.opShlShort, value, 2)
    case OP.SHR:
      return topIsAtMost(255) && take(op.opShrShort, value, 2)
    case OP.MLOAD:
      return short && take(op.opLoadAt, value, 2)
    case OP.MSTORE:
      return short && take(op.opStoreAt, value, 2)
    case OP.EQ:
      return topIsAtMost(u64.MAX_VALUE) && take(op.opEqualLong, value, 8)
    case OP.AND:
      if (isAddressMask(topConstant())) return take(op.opAndAddress, 0, 0)
      return topIsAtMost(u64.MAX_VALUE) && take(op.opAndLong, value, 8)
  }
  return false
}

function take(instruction: u16, value: u64, operandBytes: u32): bool {
  dropConstants(1)
  flush()
  if (operandBytes === 8) emitWith64(instruction, value)
  else if (operandBytes === 2) emitWith16(instruction, <u32>value)
  else emit(instruction)
  return true
}

function isAddressMask(word: usize): bool {
  return load<u64>(word) === u64.MAX_VALUE && load<u64>(word, 8) === u64.MAX_VALUE && load<u64>(word, 16) === 0xffffffff && load<u64>(word, 24) === 0
}

/** Joins an opcode with the instruction before it. @returns whether it was joined */
function joined(opcode: u32): bool {
  if (last === 0) return false
  const previous = <u32>load<u16>(last)
  if (previous === 0x90) return afterSwap(opcode)
  if (opcode === OP.ADD && previous >= 0x80 && previous <= 0x8f) {
    unwrite()
    emitWith16(op.opDupAdd, (previous - 0x7f) << 5)
    return true
  }
  return false
}

function afterSwap(opcode: u32): bool {
  switch (opcode) {
    case OP.ADD:
    case OP.MUL:
    case OP.EQ:
    case OP.AND:
    case OP.OR:
    case OP.XOR:
      unwrite()
      emit(<u16>opcode)
      return true
    case OP.LT:
    case OP.GT:
    case OP.SLT:
    case OP.SGT:
      unwrite()
      emit(<u16>(opcode ^ 1))
      return true
    case OP.SUB:
      unwrite()
      emit(op.opSubSwapped)
      return true
  }
  return false
}

// ---- jumps

function jump(size: u32): void {
  if (constantCount() > 0 && !isDefined(TRACED)) jumpTo(op.opJumpTo, size)
  else {
    flush()
    emit(0x56)
  }
  endBlock()
}

/** Emits a jump to the constant on top, if it is a JUMPDEST. */
function jumpTo(instruction: u16, size: u32): void {
  const pc = topIsAtMost(0xffffff) ? load<u32>(topConstant()) : size
  dropConstants(1)
  flush()
  emitWith32(instruction, nowhere)
  const target = pc < size ? targetAt(jumps, pc) : 0
  if (target === 0) return
  if (load<u32>(target) !== nowhere) store<u32>(out - 4, load<u32>(target))
  else addStub(out - 4, pc)
}

function jumpIf(size: u32): void {
  if (constantCount() > 0 && !isDefined(TRACED)) {
    // the condition may be joined only when it is not a constant itself
    jumpTo(constantCount() === 1 ? conditionalJump() : op.opJumpIfTo, size)
  } else {
    flush()
    emit(0x57)
  }
  endBlock()
}

/** Joins a preceding comparison with the jump. Returns the jump instruction. */
function conditionalJump(): u16 {
  if (last === 0) return op.opJumpIfTo
  const compare = <u32>load<u16>(last)
  if (compare === 0x15) {
    unwrite()
    if (last === 0) return op.opJumpIfZeroTo
    const inner = <u32>load<u16>(last)
    if (inner === 0x15) {
      unwrite()
      return op.opJumpIfTo
    }
    if (inner !== 0x14 && inner !== 0x10 && inner !== 0x11) return op.opJumpIfZeroTo
    unwrite()
    return inner === 0x14 ? op.opJumpIfNotEqualTo : inner === 0x10 ? op.opJumpIfNotLessTo : op.opJumpIfNotGreaterTo
  }
  if (compare !== 0x14 && compare !== 0x10 && compare !== 0x11) return op.opJumpIfTo
  unwrite()
  return compare === 0x14 ? op.opJumpIfEqualTo : compare === 0x10 ? op.opJumpIfLessTo : op.opJumpIfGreaterTo
}
