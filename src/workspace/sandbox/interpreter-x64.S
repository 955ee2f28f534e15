# Performs a tape of system calls. Assembled form: tape.ts; a test assembles this file again and compares.
# A record has ten words of eight bytes:
#   0 call number, 8 to 48 arguments, 56 address that receives the result (0: none),
#   64 next record after an error (0: give up), 72 next record after a result above zero (0: the following one).
# A negative call number waits for the process of the first argument, reaps all others, and exits with its status.
.globl _start
_start:
        mov     $0x10000000, %r12d
perform:
        mov     (%r12), %rax
        mov     8(%r12), %rdi
        test    %rax, %rax
        js      collect
        mov     16(%r12), %rsi
        mov     24(%r12), %rdx
        mov     32(%r12), %r10
        mov     40(%r12), %r8
        mov     48(%r12), %r9
        syscall
        mov     56(%r12), %rbx
        test    %rbx, %rbx
        jz      judge
        mov     %rax, (%rbx)
judge:
        cmp     $-4095, %rax
        jae     fail
        test    %rax, %rax
        jz      advance
        mov     72(%r12), %rbx
        test    %rbx, %rbx
        jnz     jump
advance:
        add     $80, %r12
        jmp     perform
fail:
        mov     64(%r12), %rbx
        test    %rbx, %rbx
        jz      report
jump:
        mov     %rbx, %r12
        jmp     perform
# 16 bytes to descriptor 3: address of the record, its result. Then exit 125.
report:
        push    %rax
        push    %r12
        mov     $16, %edx
        mov     %rsp, %rsi
        mov     $3, %edi
        mov     $1, %eax
        syscall
lost:
        mov     $125, %edi
leave:
        mov     $231, %eax
        syscall
collect:
        mov     %edi, %ebx
        push    %rax
wait:
        mov     $-1, %rdi
        mov     %rsp, %rsi
        xor     %edx, %edx
        xor     %r10d, %r10d
        mov     $61, %eax
        syscall
        cmp     $-10, %rax
        je      lost
        cmp     %ebx, %eax
        jne     wait
        mov     (%rsp), %eax
        movzbl  %ah, %edi
        and     $0x7f, %eax
        jz      leave
        lea     128(%rax), %edi
        jmp     leave
