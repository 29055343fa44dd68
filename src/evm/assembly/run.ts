import { call, exitToPrecompile, callKindCall, callKindCallcode, callKindDelegate, callKindStatic } from './calls'
import { create } from './create'
import { pushAddress } from './addresses'
import { endFrame } from './ends'
import * as effects from './effects'
import * as environment from './environment'
import { running } from './frames'
import { charge, gasLeft, refill } from './gas'
import * as op from './internal'
import * as at from './layout'
import * as operands from './operands'
import { droppedBy, operate } from './slow'
import * as storage from './storage'
import { step, stopsAtSteps, takeQueued } from './trace'
import * as word from './word'
import { subtract } from './wordAdd'
import { below } from './wordCompare'

/** Handles a slice that is used up at the head of a block. @returns how the frame ends for lack of gas, or the exit for an interrupt check */
function endSlice(cost: u64): i32 {
  if (gasLeft() < cost) return op.frameEnds + at.endedOutOfGas
  refill(cost, op.sliceGas)
  return at.exitFuel
}

/** Returns whether an instruction has used up the slice but not all gas; then refills the slice, for use after the exit. */
function isSliceOver(): bool {
  if (load<u64>(at.ctxReserve) === 0) return false
  refill(0, op.sliceGas)
  return true
}

/** Runs the innermost frame and the frames it calls until the host is needed. @returns one of `exit…` */
export function run(): i32 {
  let next = op.switched
  while (next === op.switched) next = advance()
  return next
}

/** Runs the innermost frame until another frame becomes the innermost. */
function advance(): i32 {
  if (isDefined(TRACED)) {
    const told = takeQueued()
    if (told !== op.goOn) return told
  }
  if (load<u32>(at.ctxFrames) === 0) return at.exitEnded
  const frame = running()
  if (isDefined(TRACED) && load<u32>(frame, op.frameKind) === op.kindPrecompile) return exitToPrecompile(frame)
  const status = runFrame(frame)
  if (status === op.wantsMore) return operands.goOnAt(frame)
  return status >= op.frameEnds && status < op.switched ? endFrame(status - op.frameEnds) : status
}

/** Runs a frame. @returns `switched`, how the frame ends, or an exit, after which it continues at the instruction in `frameIp` */
function runFrame(frame: usize): i32 {
  let ip = <usize>load<u32>(frame, op.frameIp)
  let sp = <usize>load<u32>(frame, op.frameSp)
  let gas = load<u64>(at.ctxGas)
  const floor = <usize>load<u32>(frame, op.frameFloor)
  const stream = <usize>load<u32>(frame, op.frameStream)
  const memoryAt = <usize>load<u32>(frame, op.frameMemory)
  let memorySize = load<u32>(frame, op.frameMemorySize)
  let status = 0

  for (;;) {
    switch (<u32>load<u16>(ip)) {
      case 0x00: status = effects.stop(); break
      case 0x01: word.add(sp); sp -= 32; ip += 2; continue
      case 0x02: word.mul(sp); sp -= 32; ip += 2; continue
      case 0x03: word.sub(sp); sp -= 32; ip += 2; continue
      case 0x04: word.div(sp); sp -= 32; ip += 2; continue
      case 0x05: word.sdiv(sp); sp -= 32; ip += 2; continue
      case 0x06: word.mod(sp); sp -= 32; ip += 2; continue
      case 0x07: word.smod(sp); sp -= 32; ip += 2; continue
      case 0x08: word.addmod(sp); sp -= 64; ip += 2; continue
      case 0x09: word.mulmod(sp); sp -= 64; ip += 2; continue
      case 0x0a: {
        const price = op.gasExpByte * <u64>word.exponentBytes(sp)
        if (price > gas) {
          store<u64>(at.ctxGas, gas)
          if (!charge(price)) {
            status = op.frameEnds + at.endedOutOfGas
            break
          }
          gas = load<u64>(at.ctxGas)
        } else gas -= price
        word.exp(sp)
        sp -= 32
        ip += 2
        continue
      }
      case 0x0b: word.signextend(sp); sp -= 32; ip += 2; continue
      case 0x10: word.lt(sp); sp -= 32; ip += 2; continue
      case 0x11: word.gt(sp); sp -= 32; ip += 2; continue
      case 0x12: word.slt(sp); sp -= 32; ip += 2; continue
      case 0x13: word.sgt(sp); sp -= 32; ip += 2; continue
      case 0x14: word.eq(sp); sp -= 32; ip += 2; continue
      case 0x15: word.iszero(sp); ip += 2; continue
      case 0x16: word.and(sp); sp -= 32; ip += 2; continue
      case 0x17: word.or(sp); sp -= 32; ip += 2; continue
      case 0x18: word.xor(sp); sp -= 32; ip += 2; continue
      case 0x19: word.not(sp); ip += 2; continue
      case 0x1a: word.byte(sp); sp -= 32; ip += 2; continue
      case 0x1b: word.shl(sp); sp -= 32; ip += 2; continue
      case 0x1c: word.shr(sp); sp -= 32; ip += 2; continue
      case 0x1d: word.sar(sp); sp -= 32; ip += 2; continue
      case 0x1e: word.clz(sp); ip += 2; continue
      case 0x20:
        store<u64>(at.ctxGas, gas)
        status = effects.keccak(frame, sp)
        gas = load<u64>(at.ctxGas)
        memorySize = load<u32>(frame, op.frameMemorySize)
        if (status !== op.goOn) break
        sp -= 32
        ip += 2
        if (gas !== 0 || !isSliceOver()) continue
        gas = load<u64>(at.ctxGas)
        status = at.exitFuel
        break
      case 0x30: sp += 32; pushAddress(sp, <usize>load<u32>(frame, op.frameSelf)); ip += 2; continue
      case 0x32: sp += 32; word.copyWord(sp, at.ctxOrigin); ip += 2; continue
      case 0x33: sp += 32; word.copyWord(sp, frame + op.frameCaller); ip += 2; continue
      case 0x34: sp += 32; word.copyWord(sp, frame + op.frameValue); ip += 2; continue
      case 0x35: environment.calldataload(frame, sp); ip += 2; continue
      case 0x36: sp += 32; word.setSmall(sp, <u64>load<u32>(frame, op.frameInputSize)); ip += 2; continue
      case 0x3a: sp += 32; word.copyWord(sp, at.ctxGasPrice); ip += 2; continue
      case 0x3d: sp += 32; word.setSmall(sp, <u64>load<u32>(at.ctxReturnSize)); ip += 2; continue
      case 0x41: sp += 32; word.copyWord(sp, at.ctxBeneficiary); ip += 2; continue
      case 0x42: sp += 32; word.copyWord(sp, at.ctxTimestamp); ip += 2; continue
      case 0x43: sp += 32; word.copyWord(sp, at.ctxNumber); ip += 2; continue
      case 0x44: sp += 32; word.copyWord(sp, at.ctxPrevRandao); ip += 2; continue
      case 0x45: sp += 32; word.copyWord(sp, at.ctxGasLimit); ip += 2; continue
      case 0x46: sp += 32; word.copyWord(sp, at.ctxChainId); ip += 2; continue
      case 0x48: sp += 32; word.copyWord(sp, at.ctxBaseFee); ip += 2; continue
      case 0x4a: sp += 32; word.copyWord(sp, at.ctxBlobBaseFee); ip += 2; continue
      case 0x47: sp += 32; word.copyWord(sp, <usize>load<u32>(frame, op.frameSelf) + at.accountBalance); ip += 2; continue
      case 0x49: environment.blobhash(sp); ip += 2; continue
      case 0x50: sp -= 32; ip += 2; continue
      case 0x51: {
        const offset = word.toU32Clamped(sp)
        if (<u64>offset + 32 > <u64>memorySize) {
          store<u64>(at.ctxGas, gas)
          if (!operands.touchWord(frame, offset, 32)) {
            status = op.frameEnds + at.endedOutOfGas
            break
          }
          gas = load<u64>(at.ctxGas)
          memorySize = load<u32>(frame, op.frameMemorySize)
        }
        word.loadBig(sp, memoryAt + offset)
        ip += 2
        continue
      }
      case 0x52: {
        const offset = word.toU32Clamped(sp)
        if (<u64>offset + 32 > <u64>memorySize) {
          store<u64>(at.ctxGas, gas)
          if (!operands.touchWord(frame, offset, 32)) {
            status = op.frameEnds + at.endedOutOfGas
            break
          }
          gas = load<u64>(at.ctxGas)
          memorySize = load<u32>(frame, op.frameMemorySize)
        }
        word.storeBig(memoryAt + offset, sp - 32)
        sp -= 64
        ip += 2
        continue
      }
      case 0x53: {
        const offset = word.toU32Clamped(sp)
        if (<u64>offset + 1 > <u64>memorySize) {
          store<u64>(at.ctxGas, gas)
          if (!operands.touchWord(frame, offset, 1)) {
            status = op.frameEnds + at.endedOutOfGas
            break
          }
          gas = load<u64>(at.ctxGas)
          memorySize = load<u32>(frame, op.frameMemorySize)
        }
        store<u8>(memoryAt + offset, load<u8>(sp - 32))
        sp -= 64
        ip += 2
        continue
      }
      case 0x54:
        store<u64>(at.ctxGas, gas); status = storage.sload(frame, sp); gas = load<u64>(at.ctxGas)
        if (status !== op.goOn) break; ip += 2; continue
      case 0x56: ip = operands.jumpTarget(frame, stream, sp); sp -= 32; if (ip !== 0) continue; status = op.frameEnds + at.endedInvalidJump; break
      case 0x57:
        if (word.isZero(sp - 32)) ip += 2; else ip = operands.jumpTarget(frame, stream, sp); sp -= 64
        if (ip !== 0) continue; status = op.frameEnds + at.endedInvalidJump; break
      case 0x59: sp += 32; word.setSmall(sp, <u64>memorySize); ip += 2; continue
      case 0x5c: storage.tload(frame, sp); ip += 2; continue
      case 0x80: word.copyWord(sp + 32, sp); sp += 32; ip += 2; continue
      case 0x81: word.copyWord(sp + 32, sp - 32); sp += 32; ip += 2; continue
      case 0x82: word.copyWord(sp + 32, sp - 64); sp += 32; ip += 2; continue
      case 0x83: word.copyWord(sp + 32, sp - 96); sp += 32; ip += 2; continue
      case 0x84: word.copyWord(sp + 32, sp - 128); sp += 32; ip += 2; continue
      case 0x85: word.copyWord(sp + 32, sp - 160); sp += 32; ip += 2; continue
      case 0x86: word.copyWord(sp + 32, sp - 192); sp += 32; ip += 2; continue
      case 0x87: word.copyWord(sp + 32, sp - 224); sp += 32; ip += 2; continue
      case 0x88: word.copyWord(sp + 32, sp - 256); sp += 32; ip += 2; continue
      case 0x89: word.copyWord(sp + 32, sp - 288); sp += 32; ip += 2; continue
      case 0x8a: word.copyWord(sp + 32, sp - 320); sp += 32; ip += 2; continue
      case 0x8b: word.copyWord(sp + 32, sp - 352); sp += 32; ip += 2; continue
      case 0x8c: word.copyWord(sp + 32, sp - 384); sp += 32; ip += 2; continue
      case 0x8d: word.copyWord(sp + 32, sp - 416); sp += 32; ip += 2; continue
      case 0x8e: word.copyWord(sp + 32, sp - 448); sp += 32; ip += 2; continue
      case 0x8f: word.copyWord(sp + 32, sp - 480); sp += 32; ip += 2; continue
      case 0x90: word.swapWords(sp, sp - 32); ip += 2; continue
      case 0x91: word.swapWords(sp, sp - 64); ip += 2; continue
      case 0x92: word.swapWords(sp, sp - 96); ip += 2; continue
      case 0x93: word.swapWords(sp, sp - 128); ip += 2; continue
      case 0x94: word.swapWords(sp, sp - 160); ip += 2; continue
      case 0x95: word.swapWords(sp, sp - 192); ip += 2; continue
      case 0x96: word.swapWords(sp, sp - 224); ip += 2; continue
      case 0x97: word.swapWords(sp, sp - 256); ip += 2; continue
      case 0x98: word.swapWords(sp, sp - 288); ip += 2; continue
      case 0x99: word.swapWords(sp, sp - 320); ip += 2; continue
      case 0x9a: word.swapWords(sp, sp - 352); ip += 2; continue
      case 0x9b: word.swapWords(sp, sp - 384); ip += 2; continue
      case 0x9c: word.swapWords(sp, sp - 416); ip += 2; continue
      case 0x9d: word.swapWords(sp, sp - 448); ip += 2; continue
      case 0x9e: word.swapWords(sp, sp - 480); ip += 2; continue
      case 0x9f: word.swapWords(sp, sp - 512); ip += 2; continue
      case 0xf0: store<u64>(at.ctxGas, gas); status = create(frame, sp, false, ip + 2); gas = load<u64>(at.ctxGas); break
      case 0xf1: store<u64>(at.ctxGas, gas); status = call(frame, sp, callKindCall, ip + 2); gas = load<u64>(at.ctxGas); break
      case 0xf2: store<u64>(at.ctxGas, gas); status = call(frame, sp, callKindCallcode, ip + 2); gas = load<u64>(at.ctxGas); break
      case 0xf4: store<u64>(at.ctxGas, gas); status = call(frame, sp, callKindDelegate, ip + 2); gas = load<u64>(at.ctxGas); break
      case 0xfa: store<u64>(at.ctxGas, gas); status = call(frame, sp, callKindStatic, ip + 2); gas = load<u64>(at.ctxGas); break
      case 0xf5: store<u64>(at.ctxGas, gas); status = create(frame, sp, true, ip + 2); gas = load<u64>(at.ctxGas); break
      case 0xf3: store<u64>(at.ctxGas, gas); status = effects.endWith(frame, sp, at.endedSuccess); gas = load<u64>(at.ctxGas); break
      case 0xfd: store<u64>(at.ctxGas, gas); status = effects.endWith(frame, sp, at.endedRevert); gas = load<u64>(at.ctxGas); break
      case 0xff: store<u64>(at.ctxGas, gas); status = effects.selfdestruct(frame, sp); gas = load<u64>(at.ctxGas); if (status !== op.goOn) break; ip += 2; if (!isDefined(TRACED)) continue; status = at.exitSteps; break
      case op.opBlock: {
        const cost = <u64>load<u32>(ip, 6)
        const depth = <u32>(sp - floor)
        if (gas < cost) {
          store<u64>(at.ctxGas, gas)
          status = endSlice(cost)
          gas = load<u64>(at.ctxGas)
          break
        }
        if (depth < <u32>load<u16>(ip, 2)) {
          status = op.frameEnds + at.endedUnderflow
          break
        }
        if (depth + <u32>load<u16>(ip, 4) > <u32>op.maxStackBytes) {
          status = op.frameEnds + at.endedOverflow
          break
        }
        gas -= cost
        ip += op.blockSize
        continue
      }
      case op.opPushShort: sp += 32; word.setSmall(sp, <u64>load<u16>(ip, 2)); ip += 4; continue
      case op.opPushLong: sp += 32; word.setSmall(sp, load<u64>(ip, 2)); ip += 10; continue
      case op.opPushWord: sp += 32; word.copyWord(sp, ip + 2); ip += 34; continue
      case op.opJumpTo: ip = stream + <usize>load<u32>(ip, 2); continue
      case op.opJumpIfTo: ip = !word.isZero(sp) ? stream + <usize>load<u32>(ip, 2) : ip + 6; sp -= 32; continue
      case op.opJumpIfZeroTo: ip = word.isZero(sp) ? stream + <usize>load<u32>(ip, 2) : ip + 6; sp -= 32; continue
      case op.opJumpIfEqualTo: ip = word.equal(sp, sp - 32) ? stream + <usize>load<u32>(ip, 2) : ip + 6; sp -= 64; continue
      case op.opJumpIfLessTo: ip = below(sp, sp - 32) ? stream + <usize>load<u32>(ip, 2) : ip + 6; sp -= 64; continue
      case op.opJumpIfGreaterTo: ip = below(sp - 32, sp) ? stream + <usize>load<u32>(ip, 2) : ip + 6; sp -= 64; continue
      case op.opJumpIfNotEqualTo: ip = !word.equal(sp, sp - 32) ? stream + <usize>load<u32>(ip, 2) : ip + 6; sp -= 64; continue
      case op.opJumpIfNotLessTo: ip = !below(sp, sp - 32) ? stream + <usize>load<u32>(ip, 2) : ip + 6; sp -= 64; continue
      case op.opJumpIfNotGreaterTo: ip = !below(sp - 32, sp) ? stream + <usize>load<u32>(ip, 2) : ip + 6; sp -= 64; continue
      case op.opAddShort: operands.addSmall(sp, <u64>load<u16>(ip, 2)); ip += 4; continue
      case op.opShlShort: operands.shlBy(sp, <u32>load<u16>(ip, 2)); ip += 4; continue
      case op.opShrShort: operands.shrBy(sp, <u32>load<u16>(ip, 2)); ip += 4; continue
      case op.opAndLong: word.setSmall(sp, load<u64>(sp) & load<u64>(ip, 2)); ip += 10; continue
      case op.opAndAddress: store<u32>(sp, 0, 20); store<u64>(sp, 0, 24); ip += 2; continue
      case op.opEqualLong:
        word.setSmall(sp, <u64>(load<u64>(sp) === load<u64>(ip, 2) && (load<u64>(sp, 8) | load<u64>(sp, 16) | load<u64>(sp, 24)) === 0))
        ip += 10; continue
      case op.opLoadAt: {
        const offset = <u32>load<u16>(ip, 2)
        if (offset + 32 > memorySize) {
          store<u64>(at.ctxGas, gas)
          if (!operands.touchWord(frame, offset, 32)) {
            status = op.frameEnds + at.endedOutOfGas
            break
          }
          gas = load<u64>(at.ctxGas)
          memorySize = load<u32>(frame, op.frameMemorySize)
        }
        sp += 32
        word.loadBig(sp, memoryAt + offset)
        ip += 4
        continue
      }
      case op.opStoreAt: {
        const offset = <u32>load<u16>(ip, 2)
        if (offset + 32 > memorySize) {
          store<u64>(at.ctxGas, gas)
          if (!operands.touchWord(frame, offset, 32)) {
            status = op.frameEnds + at.endedOutOfGas
            break
          }
          gas = load<u64>(at.ctxGas)
          memorySize = load<u32>(frame, op.frameMemorySize)
        }
        word.storeBig(memoryAt + offset, sp)
        sp -= 32
        ip += 4
        continue
      }
      case op.opNip: word.copyWord(sp - 32, sp); sp -= 32; ip += 2; continue
      case op.opSubSwapped: subtract(sp - 32, sp - 32, sp); sp -= 32; ip += 2; continue
      case op.opGas: store<u64>(at.ctxGas, gas); sp += 32; word.setSmall(sp, gasLeft() + <u64>load<u32>(ip, 2)); ip += 6; continue
      case op.opStore:
        store<u64>(at.ctxGas, gas); status = storage.sstore(frame, sp, <u64>load<u32>(ip, 2)); gas = load<u64>(at.ctxGas)
        if (status !== op.goOn) break; sp -= 64; ip += 6; continue
      case op.opPushNegative: sp += 32; operands.setNegative(sp, <u64>load<u16>(ip, 2)); ip += 4; continue
      case op.opContinue: status = op.wantsMore; break
      case op.opInvalidJump: status = op.frameEnds + at.endedInvalidJump; break
      case op.opDupAdd: word.addTo(sp, sp + 32 - <usize>load<u16>(ip, 2)); ip += 4; continue
      case 0x31: case 0x37: case 0x39: case 0x3b: case 0x3c: case 0x3e: case 0x3f: case 0x40: case 0x5d: case 0x5e:
      case 0xa0: case 0xa1: case 0xa2: case 0xa3: case 0xa4: {
        const opcode = <u32>load<u16>(ip)
        store<u64>(at.ctxGas, gas)
        status = operate(opcode, frame, sp)
        gas = load<u64>(at.ctxGas)
        memorySize = load<u32>(frame, op.frameMemorySize)
        if (status !== op.goOn) break
        sp -= droppedBy(opcode)
        ip += 2
        if (gas !== 0 || !isSliceOver()) continue
        gas = load<u64>(at.ctxGas)
        status = at.exitFuel
        break
      }
      case op.opPopTwo: sp -= 64; ip += 2; continue
      case op.opStep:
        if (isDefined(TRACED)) {
          const told = load<u32>(at.ctxStepsTop)
          status = step(frame, sp, load<u32>(ip, 2), gas)
          if (status !== op.goOn) break
          ip += 6
          if (!stopsAtSteps() || load<u32>(at.ctxStepsTop) === told) continue
          status = at.exitSteps
          break
        }
      default:
        status = op.frameEnds + at.endedInvalidOpcode
    }
    // the frame is waiting already, and its instruction pointer is stored
    if (status === op.switched || status === at.exitPrecompile) return status
    store<u64>(at.ctxGas, gas)
    store<u32>(frame, <u32>ip, op.frameIp)
    store<u32>(frame, <u32>sp, op.frameSp)
    return status
  }
}
