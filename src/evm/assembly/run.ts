import * as OP from './opcode'
import { call, exitToPrecompile, callKindCall, callKindCallcode, callKindDelegate, callKindStatic } from './calls'
import { create } from './create'
import { pushAddress } from './addresses'
import { endFrame } from './ends'
import * as effects from './effects'
import * as environment from './environment'
import { running } from './frames'
import { exitToNative } from './natives'
import { charge, gasLeft, refill } from './gas'
import * as op from './internal'
import * as at from './layout'
import * as operands from './operands'
import { droppedBy, operate } from './slow'
import * as storage from './storage'
import { step, stopsAtSteps, takeQueued } from './trace'
import * as word from './word/word'
import { subtract } from './word/add'
import { below } from './word/compare'

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
  if (isDefined(TRACED) && load<u32>(frame, op.frameKind) === op.kindNative) return exitToNative(frame)
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
      case OP.STOP: status = effects.stop(); break
      case OP.ADD: word.add(sp); sp -= 32; ip += 2; continue
      case OP.MUL: word.mul(sp); sp -= 32; ip += 2; continue
      case OP.SUB: word.sub(sp); sp -= 32; ip += 2; continue
      case OP.DIV: word.div(sp); sp -= 32; ip += 2; continue
      case OP.SDIV: word.sdiv(sp); sp -= 32; ip += 2; continue
      case OP.MOD: word.mod(sp); sp -= 32; ip += 2; continue
      case OP.SMOD: word.smod(sp); sp -= 32; ip += 2; continue
      case OP.ADDMOD: word.addmod(sp); sp -= 64; ip += 2; continue
      case OP.MULMOD: word.mulmod(sp); sp -= 64; ip += 2; continue
      case OP.EXP: {
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
      case OP.SIGNEXTEND: word.signextend(sp); sp -= 32; ip += 2; continue
      case OP.LT: word.lt(sp); sp -= 32; ip += 2; continue
      case OP.GT: word.gt(sp); sp -= 32; ip += 2; continue
      case OP.SLT: word.slt(sp); sp -= 32; ip += 2; continue
      case OP.SGT: word.sgt(sp); sp -= 32; ip += 2; continue
      case OP.EQ: word.eq(sp); sp -= 32; ip += 2; continue
      case OP.ISZERO: word.iszero(sp); ip += 2; continue
      case OP.AND: word.and(sp); sp -= 32; ip += 2; continue
      case OP.OR: word.or(sp); sp -= 32; ip += 2; continue
      case OP.XOR: word.xor(sp); sp -= 32; ip += 2; continue
      case OP.NOT: word.not(sp); ip += 2; continue
      case OP.BYTE: word.byte(sp); sp -= 32; ip += 2; continue
      case OP.SHL: word.shl(sp); sp -= 32; ip += 2; continue
      case OP.SHR: word.shr(sp); sp -= 32; ip += 2; continue
      case OP.SAR: word.sar(sp); sp -= 32; ip += 2; continue
      case OP.CLZ: word.clz(sp); ip += 2; continue
      case OP.KECCAK256:
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
      case OP.ADDRESS: sp += 32; pushAddress(sp, <usize>load<u32>(frame, op.frameSelf)); ip += 2; continue
      case OP.ORIGIN: sp += 32; word.copyWord(sp, at.ctxOrigin); ip += 2; continue
      case OP.CALLER: sp += 32; word.copyWord(sp, frame + op.frameCaller); ip += 2; continue
      case OP.CALLVALUE: sp += 32; word.copyWord(sp, frame + op.frameValue); ip += 2; continue
      case OP.CALLDATALOAD: environment.calldataload(frame, sp); ip += 2; continue
      case OP.CALLDATASIZE: sp += 32; word.setSmall(sp, <u64>load<u32>(frame, op.frameInputSize)); ip += 2; continue
      case OP.GASPRICE: sp += 32; word.copyWord(sp, at.ctxGasPrice); ip += 2; continue
      case OP.RETURNDATASIZE: sp += 32; word.setSmall(sp, <u64>load<u32>(at.ctxReturnSize)); ip += 2; continue
      case OP.COINBASE: sp += 32; word.copyWord(sp, at.ctxBeneficiary); ip += 2; continue
      case OP.TIMESTAMP: sp += 32; word.copyWord(sp, at.ctxTimestamp); ip += 2; continue
      case OP.NUMBER: sp += 32; word.copyWord(sp, at.ctxNumber); ip += 2; continue
      case OP.PREVRANDAO: sp += 32; word.copyWord(sp, at.ctxPrevRandao); ip += 2; continue
      case OP.GASLIMIT: sp += 32; word.copyWord(sp, at.ctxGasLimit); ip += 2; continue
      case OP.CHAINID: sp += 32; word.copyWord(sp, at.ctxChainId); ip += 2; continue
      case OP.BASEFEE: sp += 32; word.copyWord(sp, at.ctxBaseFee); ip += 2; continue
      case OP.BLOBBASEFEE: sp += 32; word.copyWord(sp, at.ctxBlobBaseFee); ip += 2; continue
      case OP.SELFBALANCE: sp += 32; word.copyWord(sp, <usize>load<u32>(frame, op.frameSelf) + at.accountBalance); ip += 2; continue
      case OP.BLOBHASH: environment.blobhash(sp); ip += 2; continue
      case OP.POP: sp -= 32; ip += 2; continue
      case OP.MLOAD: {
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
      case OP.MSTORE: {
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
      case OP.MSTORE8: {
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
      case OP.SLOAD:
        store<u64>(at.ctxGas, gas); status = storage.sload(frame, sp); gas = load<u64>(at.ctxGas)
        if (status !== op.goOn) break; ip += 2; continue
      case OP.JUMP: ip = operands.jumpTarget(frame, stream, sp); sp -= 32; if (ip !== 0) continue; status = op.frameEnds + at.endedInvalidJump; break
      case OP.JUMPI:
        if (word.isZero(sp - 32)) ip += 2; else ip = operands.jumpTarget(frame, stream, sp); sp -= 64
        if (ip !== 0) continue; status = op.frameEnds + at.endedInvalidJump; break
      case OP.MSIZE: sp += 32; word.setSmall(sp, <u64>memorySize); ip += 2; continue
      case OP.TLOAD: storage.tload(frame, sp); ip += 2; continue
      case OP.DUP1: word.copyWord(sp + 32, sp); sp += 32; ip += 2; continue
      case OP.DUP2: word.copyWord(sp + 32, sp - 32); sp += 32; ip += 2; continue
      case OP.DUP3: word.copyWord(sp + 32, sp - 64); sp += 32; ip += 2; continue
      case OP.DUP4: word.copyWord(sp + 32, sp - 96); sp += 32; ip += 2; continue
      case OP.DUP5: word.copyWord(sp + 32, sp - 128); sp += 32; ip += 2; continue
      case OP.DUP6: word.copyWord(sp + 32, sp - 160); sp += 32; ip += 2; continue
      case OP.DUP7: word.copyWord(sp + 32, sp - 192); sp += 32; ip += 2; continue
      case OP.DUP8: word.copyWord(sp + 32, sp - 224); sp += 32; ip += 2; continue
      case OP.DUP9: word.copyWord(sp + 32, sp - 256); sp += 32; ip += 2; continue
      case OP.DUP10: word.copyWord(sp + 32, sp - 288); sp += 32; ip += 2; continue
      case OP.DUP11: word.copyWord(sp + 32, sp - 320); sp += 32; ip += 2; continue
      case OP.DUP12: word.copyWord(sp + 32, sp - 352); sp += 32; ip += 2; continue
      case OP.DUP13: word.copyWord(sp + 32, sp - 384); sp += 32; ip += 2; continue
      case OP.DUP14: word.copyWord(sp + 32, sp - 416); sp += 32; ip += 2; continue
      case OP.DUP15: word.copyWord(sp + 32, sp - 448); sp += 32; ip += 2; continue
      case OP.DUP16: word.copyWord(sp + 32, sp - 480); sp += 32; ip += 2; continue
      case OP.SWAP1: word.swapWords(sp, sp - 32); ip += 2; continue
      case OP.SWAP2: word.swapWords(sp, sp - 64); ip += 2; continue
      case OP.SWAP3: word.swapWords(sp, sp - 96); ip += 2; continue
      case OP.SWAP4: word.swapWords(sp, sp - 128); ip += 2; continue
      case OP.SWAP5: word.swapWords(sp, sp - 160); ip += 2; continue
      case OP.SWAP6: word.swapWords(sp, sp - 192); ip += 2; continue
      case OP.SWAP7: word.swapWords(sp, sp - 224); ip += 2; continue
      case OP.SWAP8: word.swapWords(sp, sp - 256); ip += 2; continue
      case OP.SWAP9: word.swapWords(sp, sp - 288); ip += 2; continue
      case OP.SWAP10: word.swapWords(sp, sp - 320); ip += 2; continue
      case OP.SWAP11: word.swapWords(sp, sp - 352); ip += 2; continue
      case OP.SWAP12: word.swapWords(sp, sp - 384); ip += 2; continue
      case OP.SWAP13: word.swapWords(sp, sp - 416); ip += 2; continue
      case OP.SWAP14: word.swapWords(sp, sp - 448); ip += 2; continue
      case OP.SWAP15: word.swapWords(sp, sp - 480); ip += 2; continue
      case OP.SWAP16: word.swapWords(sp, sp - 512); ip += 2; continue
      case OP.CREATE: store<u64>(at.ctxGas, gas); status = create(frame, sp, false, ip + 2); gas = load<u64>(at.ctxGas); break
      case OP.CALL: store<u64>(at.ctxGas, gas); status = call(frame, sp, callKindCall, ip + 2); gas = load<u64>(at.ctxGas); break
      case OP.CALLCODE: store<u64>(at.ctxGas, gas); status = call(frame, sp, callKindCallcode, ip + 2); gas = load<u64>(at.ctxGas); break
      case OP.DELEGATECALL: store<u64>(at.ctxGas, gas); status = call(frame, sp, callKindDelegate, ip + 2); gas = load<u64>(at.ctxGas); break
      case OP.STATICCALL: store<u64>(at.ctxGas, gas); status = call(frame, sp, callKindStatic, ip + 2); gas = load<u64>(at.ctxGas); break
      case OP.CREATE2: store<u64>(at.ctxGas, gas); status = create(frame, sp, true, ip + 2); gas = load<u64>(at.ctxGas); break
      case OP.RETURN: store<u64>(at.ctxGas, gas); status = effects.endWith(frame, sp, at.endedSuccess); gas = load<u64>(at.ctxGas); break
      case OP.REVERT: store<u64>(at.ctxGas, gas); status = effects.endWith(frame, sp, at.endedRevert); gas = load<u64>(at.ctxGas); break
      case OP.SELFDESTRUCT: store<u64>(at.ctxGas, gas); status = effects.selfdestruct(frame, sp); gas = load<u64>(at.ctxGas); if (status !== op.goOn) break; ip += 2; if (!isDefined(TRACED)) continue; status = at.exitSteps; break
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
      case OP.BALANCE: case OP.CALLDATACOPY: case OP.CODECOPY: case OP.EXTCODESIZE: case OP.EXTCODECOPY: case OP.RETURNDATACOPY: case OP.EXTCODEHASH: case OP.BLOCKHASH: case OP.TSTORE: case OP.MCOPY:
      case OP.LOG0: case OP.LOG1: case OP.LOG2: case OP.LOG3: case OP.LOG4: {
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
    if (status === op.switched || status === at.exitPrecompile || status === at.exitNative) return status
    store<u64>(at.ctxGas, gas)
    store<u32>(frame, <u32>ip, op.frameIp)
    store<u32>(frame, <u32>sp, op.frameSp)
    return status
  }
}
